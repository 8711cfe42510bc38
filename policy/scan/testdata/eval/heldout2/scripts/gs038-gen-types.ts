import { readFileSync, writeFileSync } from 'fs';
import { join } from 'path';

interface Field {
  name: string;
  type: 'string' | 'number' | 'boolean';
  optional?: boolean;
}

const schema = JSON.parse(readFileSync('schema.json', 'utf-8')) as Record<string, Field[]>;

function render(name: string, fields: Field[]): string {
  const body = fields.map((f: Field) => `  ${f.name}${f.optional ? '?' : ''}: ${f.type};`);
  return `export interface ${name} {\n${body.join('\n')}\n}\n`;
}

const text: string = Object.entries(schema).map(([n, f]) => render(n, f)).join('\n');
writeFileSync(join('src', 'types.ts'), text);
