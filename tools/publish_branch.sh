#!/bin/sh
# Make a branch of a remote repository hold a folder: `sh tools/publish_branch.sh FOLDER BRANCH REMOTE`.
# Its history is kept, so that nbgitpuller and git can pull; where nothing changed, nothing is pushed.
set -eu
folder=$1 branch=$2 remote=$3
[ -n "$(ls -A "$folder")" ] || { echo "There is nothing to publish in $folder: write it first." >&2; exit 1; }

GIT_DIR=$(mktemp -d)
export GIT_DIR GIT_WORK_TREE="$folder" GIT_AUTHOR_NAME="github-actions[bot]" GIT_COMMITTER_NAME="github-actions[bot]"
export GIT_AUTHOR_EMAIL="github-actions[bot]@users.noreply.github.com" GIT_COMMITTER_EMAIL="github-actions[bot]@users.noreply.github.com"
trap 'rm -rf "$GIT_DIR"' EXIT

git init --quiet
old=$(git ls-remote "$remote" "refs/heads/$branch" | cut -f 1)
[ -z "$old" ] || git fetch --quiet --depth=1 "$remote" "$old"
git add --all --force
tree=$(git write-tree)
if [ -n "$old" ] && [ "$tree" = "$(git rev-parse "$old^{tree}")" ]; then
    echo "The branch $branch already held these files."
    exit
fi
commit=$(git commit-tree "$tree" ${old:+-p "$old"} -m "Copy the notebooks of ${GITHUB_SHA:-the book}")
git push --quiet "$remote" "$commit:refs/heads/$branch"
echo "The branch $branch holds the new files."
