#!/usr/bin/env node
import Anthropic from '@anthropic-ai/sdk';
import { readFileSync, writeFileSync } from 'node:fs';

const client = new Anthropic({ apiKey: process.env.ANTHROPIC_API_KEY });
const prompt = readFileSync('prompt.txt', 'utf8');

const message = await client.messages.create({
  model: 'claude-sonnet',
  max_tokens: 1024,
  messages: [{ role: 'user', content: prompt }],
});

const text = message.content.map((part) => part.text).join('');
writeFileSync('answer.md', text);
console.log('words:', text.split(/\s+/).length);
