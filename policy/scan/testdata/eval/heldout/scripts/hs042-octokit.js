#!/usr/bin/env node
const { Octokit } = require('@octokit/rest');
const fs = require('fs');

const octokit = new Octokit({ auth: process.env.GITHUB_TOKEN });

async function main() {
  const issues = await octokit.paginate(octokit.rest.issues.listForRepo, {
    owner: 'acme',
    repo: 'widgets',
    state: 'open',
  });
  const slim = issues.map(({ number, title }) => ({ number, title }));
  fs.writeFileSync('issues.json', JSON.stringify(slim));
}

main();
