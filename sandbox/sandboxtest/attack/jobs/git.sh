#: init, add, commit, log
git init -q; git config --get core.bare; echo 1 > f; git add f; git -c user.name=U -c user.email=u@example.test commit -qm one; git log --format=%s; git status --short; git fsck 2>&1 | grep -v '^Checking' || true
#: branches and merges
export GIT_AUTHOR_NAME=U GIT_AUTHOR_EMAIL=u@e.test GIT_COMMITTER_NAME=U GIT_COMMITTER_EMAIL=u@e.test; git init -q -b main; seq 9 > f; git add f; git commit -qm one; git checkout -qb b; sed -i s/1/x/ f; git commit -qam two; git checkout -q main; sed -i s/9/y/ f; git commit -qam three; git merge -q b -m merged; cat f | tr '\n' ' '; git log --format=%s | sort
#: rebase, stash, reset, clean
export GIT_AUTHOR_NAME=U GIT_AUTHOR_EMAIL=u@e.test GIT_COMMITTER_NAME=U GIT_COMMITTER_EMAIL=u@e.test; git init -q -b main; echo 1 > f; git add f; git commit -qm one; echo 2 > f; git stash -q; cat f; git stash pop -q; cat f; git commit -qam two; git reset -q --hard HEAD~1; cat f; touch u; git clean -qf; ls; git tag t
#: clone, fetch, gc
export GIT_AUTHOR_NAME=U GIT_AUTHOR_EMAIL=u@e.test GIT_COMMITTER_NAME=U GIT_COMMITTER_EMAIL=u@e.test; git init -q -b main a; cd a; for i in 1 2 3; do echo $i > f$i; git add .; git commit -qm $i; done; cd ..; git clone -q a c; cd a; echo 4 > f4; git add .; git commit -qm 4; git gc -q; cd ../c; git pull -q; git log --format=%s | tr '\n' ' '; git grep -c . | wc -l | tr -d ' '; git blame -s f4 | cut -d' ' -f2-
#: clone of a project with workflows and settings
export GIT_AUTHOR_NAME=U GIT_AUTHOR_EMAIL=u@e.test GIT_COMMITTER_NAME=U GIT_COMMITTER_EMAIL=u@e.test; git init -q -b main a; cd a; mkdir -p .github/workflows .vscode; echo on > .github/workflows/ci.yml; echo {} > .vscode/settings.json; echo save=1 > .npmrc; git add .; git commit -qm 1; cd ..; git clone -q a c; cd a; echo off > .github/workflows/ci.yml; rm .npmrc; git commit -qam 2; cd ../c; git pull -q; cat .github/workflows/ci.yml; git status --short; ls -A; cd ..; tar cf t.tar c; mkdir u; tar xf t.tar -C u; cp -r c/.github u/g; ls -A u u/c
#: a patch
git init -q; seq 5 > f; git add f; sed -i s/3/three/ f; git diff > p; git checkout -q f 2>/dev/null; git apply p; cat f | tr '\n' ' '; patch -R -s f < p; cat f | tr '\n' ' '
#: the repository that was there
cd ..; git --no-optional-locks rev-parse --show-toplevel > /dev/null 2>&1 || true; git config --file job/own.cfg a.b c; cat job/own.cfg
