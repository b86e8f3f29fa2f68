/** Small projects as strangers have them, in git and all committed. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from '../../../support/control-plane.ts'

export const EXPRESS = {
  'package.json': `${JSON.stringify({ name: 'shop', main: 'server.js', dependencies: { express: '^5.1.0' } }, undefined, 2)}\n`,
  'server.js': `const express = require('express')

const app = express()
app.get('/healthz', (request, response) => response.send('ok'))
app.listen(3000)
`,
}

export const MONOREPO = {
  'package.json': `${JSON.stringify({ private: true, workspaces: ['apps/*'] }, undefined, 2)}\n`,
  ...under('apps/api', EXPRESS),
  ...under('apps/shop', EXPRESS),
}

function under(folder: string, files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]),
  )
}

export function projectOf(t: Test, files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder(t)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'pipe' })
  git('init', '--quiet')
  commitAll(folder)
  return folder
}

export function commitAll(folder: string) {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'pipe' })
  git('add', '--all')
  git(...who, 'commit', '--quiet', '--message', 'all')
}

/** Every file with its text and mode, but what git keeps. */
export function treeOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => !name.startsWith('.git/') && name !== '.git')
  return Object.fromEntries(
    files.sort().map((name) => {
      const stats = statSync(join(folder, name))
      const text = stats.isFile() ? readFileSync(join(folder, name), 'latin1') : ''
      return [name, `${stats.mode.toString(8)} ${text}`]
    }),
  )
}
