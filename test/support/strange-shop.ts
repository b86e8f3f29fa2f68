/** A small application to be looked at by the tool, and what must hold whatever becomes of it. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import type { Ended } from './analyzer-here.ts'
import { temporaryFolder } from './control-plane.ts'

export const SHOP: Readonly<Record<string, string>> = {
  'package.json': '{\n  "name": "shop",\n  "type": "module",\n  "scripts": { "start": "node server.js" },\n  "dependencies": { "express": "^5.0.0" }\n}\n',
  'server.js': "import express from 'express'\n\nconst app = express()\napp.get('/health', (request, response) => response.send('ok'))\napp.listen(process.env.PORT ?? 3000)\n",
} // prettier-ignore

export function shop(t: Test, more: Readonly<Record<string, string>> = {}): string {
  const root = temporaryFolder(t)
  for (const [path, text] of Object.entries({ ...SHOP, ...more })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

/** All that lies there, for «nothing has been written». */
export function everything(root: string): string {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()
  return paths.map((path) => `${path}\n`).join('') + readFileSync(join(root, 'server.js'), 'utf8')
}

/** No stack, no line of ours, whatever happens. */
export function isForPeople(t: Test, { out, err }: Ended) {
  t.notMatch(out + err, /\n\s+at .*\(|node:internal|Unexpected error|Error: /)
}
