#!/usr/bin/env node
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Octokit } from '@octokit/rest';

const log = execFileSync('git', ['log', '--oneline', '-20'], { encoding: 'utf8' });
const lines = log.trim().split('\n').map((l) => `- ${l}`);
const body = ['## Changes', '', ...lines].join('\n');

writeFileSync('NOTES.md', body);

const octokit = new Octokit({ auth: process.env.GITHUB_TOKEN });
await octokit.rest.repos.createRelease({
  owner: 'acme',
  repo: 'site',
  tag_name: 'v1.0.0',
  body,
});
console.log('released');
