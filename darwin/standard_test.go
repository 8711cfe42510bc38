package darwin_test

import (
	"skillrun/darwin"
	"skillrun/profiles"
)

// The machine and the run of the standard profile: a skill works on a
// repository with a sub-repository, a secret and settings of an editor.
const (
	home      = "/Users/ann"
	workspace = "/Users/ann/work/app"
	skill     = "/Users/ann/.claude/skills/pdf"
	tmp       = "/private/var/folders/zz/x1/T/skillrun-1"
)

func standardFacts() *darwin.Facts {
	return &darwin.Facts{
		OS: "darwin", Version: "15.6", Home: home, User: "ann", Workspace: workspace, Tmp: tmp, PrivateHome: tmp + "/home", Tag: "skillrun-test",
		Exists: []string{
			workspace + "/.git/", workspace + "/.git/hooks/", workspace + "/.git/config", workspace + "/.git/info/",
			workspace + "/.env", workspace + "/.vscode/", workspace + "/sub/deep/.env", workspace + "/lib/.git/",
			home + "/.ssh/", home + "/.claude/", home + "/.pyenv/versions/3.12.4/bin/python3", home + "/.pyenv/shims/python3",
			home + "/.nvm/versions/node/v22.1.0/bin/node", home + "/.nvm/nvm.sh", "/opt/homebrew/bin/", "/opt/homebrew/Cellar/",
		},
		Contents: []string{workspace + "/README.md", workspace + "/main.py"},
		Links:    []string{"/opt/homebrew/bin/python3"},
	}
}

func origin(capability, reason string) profiles.Origin {
	return profiles.Origin{Source: "skillguard-manifest.json:4", Capability: capability, Reason: reason}
}

// standardProfile is the workspace profile: what filesystem.read,
// filesystem.write and shell.execute lower to, with all shipped data.
func standardProfile(f *darwin.Facts) *profiles.Profile {
	h := f.Host()
	p := &profiles.Profile{Workspace: workspace, Skill: skill, Home: home}
	p.Paths = append(p.Paths, profiles.BaseReads(h)...)
	tools, _ := profiles.Toolchains(h, "")
	p.Paths = append(p.Paths, tools...)
	p.Paths = append(p.Paths,
		profiles.PathRule{Path: workspace, Tree: true, Access: profiles.Read | profiles.Write | profiles.Create, Origin: origin("filesystem.write", "the workspace")},
		profiles.PathRule{Path: skill, Tree: true, Access: profiles.Read | profiles.Execute, Origin: origin("context.load", "the skill's own files")},
	)
	p.Denials = append(p.Denials, profiles.SensitivePaths(h)...)
	p.Denials = append(p.Denials, profiles.WorkspaceSecrets(workspace)...)
	p.Denials = append(p.Denials, profiles.ControlFiles(workspace)...)
	p.Process = profiles.Process{Create: true, Origin: origin("shell.execute", "tools of the system")}
	return p
}
