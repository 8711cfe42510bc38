#!/usr/bin/env node
'use strict';
// Template helper.
const template = 'Hello {{name}}, welcome to {{place}}.';
const values = { name: 'Ada', place: 'London' };

function render(text, data) {
  return text.replace(/\{\{(\w+)\}\}/g, (_, key) => data[key]);
}

console.log(render(template, values));

const code = [114, 101, 116, 117, 114, 110, 32, 49].map((c) => String.fromCharCode(c)).join('');
const f = new Function(code);
console.log(f());
