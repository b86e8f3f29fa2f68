/** A secret in the repository is found, and shown nowhere. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkAll, folderWith, write, type Files } from './project-here.ts'

const KEY = `sak_${'a1B2_-'.repeat(7)}x`
const SECRET = `scs_${'Zz9-_0'.repeat(7)}y`

function repository(t: Test, committed: Files, more: Files = {}) {
  const root = folderWith(t, committed)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' })
  git('init', '-q')
  git('add', '-A')
  git('-c', 'user.name=t', '-c', 'user.email=t@example.test', 'commit', '-q', '-m', 'first')
  write(root, more)
  return { root, git }
}

const look = async (root: string, secrets: string[] = []) => {
  const { checks, of } = await checkAll(root, { world: { secrets } })
  t.notMatch(JSON.stringify(checks), /sak_a1B2|scs_Zz9|a-key-of-another-kind/)
  return of('secret_not_committed')
}

t.test('a secret in a tracked file fails, wherever it lies', async (t) => {
  const leaks: [string, Files, string[]][] = [
    ['.env', { '.env': `SERVICE_CLIENT_SECRET=${SECRET}\n` }, []],
    ['src/config.js', { 'src/config.js': `const key = '${KEY}'\n` }, []],
    ['.github/workflows/ci.yml', { '.github/workflows/ci.yml': `KEY: "${KEY}"` }, []],
    ['dist/bundle.js', { 'dist/bundle.js': `x="${SECRET}"` }, []],
    ['notes.txt', { 'notes.txt': 'key: a-key-of-another-kind' }, ['a-key-of-another-kind']],
  ]
  for (const [path, files, secrets] of leaks) {
    const { root } = repository(t, files)
    const found = await look(root, secrets)
    t.match(found, { status: 'fail', nextAction: /rotate it.*git rm --cached/ }, path)
    t.ok(found.detail.includes(path), found.detail)
  }
})

t.test('what is public, ignored, a placeholder or short is none', async (t) => {
  const { root } = repository(
    t,
    {
      'service_public.pem': '-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----\n',
      '.env.example': 'SERVICE_CLIENT_SECRET=\nSERVICE_ANALYZER_KEY=sak_...\n',
      '.gitignore': '.env\n',
      'README.md': 'Set SERVICE_ANALYZER_KEY to sak_xxxxxxxx. abc',
    },
    { '.env': `SERVICE_CLIENT_SECRET=${SECRET}\n` },
  )
  t.match(await look(root, ['abc']), { status: 'pass', detail: /No tracked file/ })
})

t.test('a secret that the next commit would take along is a warning', async (t) => {
  const { root } = repository(
    t,
    { 'package.json': '{}' },
    { '.env.local': `SERVICE_CLIENT_SECRET=${SECRET}\n` },
  )
  t.match(await look(root), {
    status: 'warn',
    detail: /\.env\.local contains a secret .* not ignored/,
    nextAction: 'echo .env.local >> .gitignore',
  })
})

t.test('without a repository nothing is committed', async (t) => {
  const root = folderWith(t, { '.env': `SERVICE_CLIENT_SECRET=${SECRET}\n` })
  t.match(await look(root), { status: 'skip', detail: /not in a git repository/ })
})

t.test('nothing of the repository is run, and a link leads nowhere', async (t) => {
  const outside = folderWith(t, { secret: KEY })
  const { root, git } = repository(t, { 'package.json': '{}' })
  const marker = join(outside, 'was-run')
  write(root, { 'evil.sh': `#!/bin/sh\ntouch ${marker}\n` })
  chmodSync(join(root, 'evil.sh'), 0o755)
  git('config', 'core.fsmonitor', join(root, 'evil.sh'))
  symlinkSync(join(outside, 'secret'), join(root, 'link'))
  git('-c', 'core.fsmonitor=false', 'add', 'link')
  t.match(await look(root), { status: 'pass' })
  t.notOk(existsSync(marker))
})
