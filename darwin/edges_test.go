package darwin_test

import (
	"testing"

	"skillrun/darwin"
	"skillrun/profiles"
)

// TestEdges holds single rules to what the standard profile does not show.
func TestEdges(t *testing.T) {
	const d = "/data"
	grant := profiles.PathRule{Path: d, Tree: true, Access: rw | profiles.Delete}
	tests := []struct {
		name   string
		denial profiles.Denial
		facts  func(f *darwin.Facts)
		want   map[string]string
	}{
		{"a denial of reading alone", profiles.Denial{Path: d + "/s", Access: profiles.Read}, nil, map[string]string{
			"@read /data/s": "deny", "@write /data/s": "allow", "@link /data/s /data/t": "deny", "@clone /data/s /data/t": "deny", "@unlink /data/s": "deny",
			"network-outbound unix:/data/s": "deny", "@stat /data/s": "allow", "@stat /data/s/x": "deny", "@link /data/o /data/t": "allow",
		}},
		{"a denial of writing alone", profiles.Denial{Path: d + "/s", Access: profiles.Write}, nil, map[string]string{
			"@read /data/s": "allow", "@write /data/s": "deny", "@link /data/s /data/t": "deny", "file-write-mode /data/s": "deny",
			"@create /data/s/x": "allow",
		}},
		{"an absent name in any case", profiles.Denial{Path: d + "/Sk/key", Access: all}, nil, map[string]string{
			"@create /data/sK/KEY": "deny", "@create /data/Sk/key/x": "deny", "@create /data/\u017fk/key": "deny", "@create /data/s\u212a/key": "deny", "@create /data/skin": "allow",
			"@create /data/Sk": "deny", "@create /data/SK": "deny", "@unlink /data/Sk": "deny", "@create /DATA/Sk/key": "deny",
		}},
		{"a character for several letters", profiles.Denial{Path: d, Match: "*.tfstate-ssh-office-ssssssss", Access: profiles.Write | profiles.Create}, nil, map[string]string{
			"@create /data/x.tfstate-ssh-office-ssssssss": "deny", "@create /data/x.TF\ufb06ate-\u00dfh-o\ufb03ce-\u1e9e\u00df\u00df\u00df": "deny", "@create /data/x.tf\ufb05ate-s\u017fh-of\ufb01ce-s\u00dfsssss": "deny",
			"@create /data/x.tfstate-sh-office-ssssssss": "allow", "@create /data/x.tfstate-ssh-o\ufb01ce-ssssssss": "allow",
		}},
		{"the same in a path", profiles.Denial{Path: d + "/.github/workflows", Access: profiles.Write | profiles.Create}, nil, map[string]string{
			"@create /data/.github/work\ufb02ows": "deny", "@create /data/.gIthub/WORK\ufb02OWS/x.yml": "deny", "@create /data/.github/workfows": "allow",
		}},
		{"an absent name where case counts", profiles.Denial{Path: d + "/Sk/key", Access: all}, func(f *darwin.Facts) { f.CaseSensitive = true }, map[string]string{
			"@create /data/sK/KEY": "allow", "@create /data/Sk/key/x": "deny", "@create /data/Sk": "deny",
		}},
		{"a name that exists", profiles.Denial{Path: d + "/a/s", Access: all}, func(f *darwin.Facts) { f.Exists = append(f.Exists, "/data/a/s") }, map[string]string{
			"@create /data/a/s/x": "deny", "@unlink /data/a": "deny", "@create /data/a": "allow", "@create /data/A/S": "allow",
		}},
		{"an exception at or above a name", profiles.Denial{Path: d, Match: ".claude", Access: profiles.Write | profiles.Create, Except: []string{"node_modules"}}, nil, map[string]string{
			"@create /data/.claude/x": "deny", "@create /data/node_modules/.claude/x": "allow", "@create /data/.claude/node_modules/x": "deny",
			"@create /data/x/NODE_modules/y/.Claude": "allow",
		}},
		{"an exception by path", profiles.Denial{Path: d + "/s", Access: all, Except: []string{d + "/s/open"}}, nil, map[string]string{
			"@read /data/s/open/x": "allow", "@read /data/s/opened": "deny", "@unlink /data/s/open/x": "allow", "@unlink /data/s": "deny",
		}},
		{"what is there cannot be moved out", profiles.Denial{Path: d, Match: ".env", Access: profiles.Read, Class: profiles.Sensitive}, func(f *darwin.Facts) { f.Exists = append(f.Exists, "/data/a/b/.env") }, map[string]string{
			"@rename /data/a T/a": "deny", "@rename /data/a/b T/b": "deny", "@rename /data/c T/c": "allow", "@read T/x/.env": "allow",
		}},
		{"where nobody looked, names count everywhere", profiles.Denial{Path: d, Match: ".env", Access: profiles.Read, Class: profiles.Sensitive}, func(f *darwin.Facts) { f.Exists, f.Contents = nil, nil }, map[string]string{
			"@rename /data/a T/a": "allow", "@read T/a/.env": "deny", "@read /data/.env": "deny",
		}},
		{"a component of its own", profiles.Denial{Path: d, Match: "a?c*", Access: profiles.Write}, nil, map[string]string{
			"@write /data/abcd": "deny", "@write /data/x/ABC": "deny", "@write /data/a/c": "allow", "@write /data/ac": "allow", "@write /data/xabc": "allow",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, f := small(), standardFacts()
			p.Paths, p.Denials = []profiles.PathRule{grant}, []profiles.Denial{tt.denial}
			f.Exists = []string{"/data"}
			if tt.facts != nil {
				tt.facts(f)
			}
			policy, err := darwin.Compile(p, f)
			if err != nil {
				t.Fatal(err)
			}
			own := parse(t, policy, 26)
			for query, want := range tt.want {
				if got := ask(t, own, spell(query)); got != want {
					t.Errorf("%s: %s, want %s", spell(query), got, want)
				}
			}
		})
	}
}
