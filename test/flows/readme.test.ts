// long: types every command of two pages into a shell, with all programs
/** What README.md and the tool's own README have somebody type is typed, in its order, into one shell. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Browser } from '../support/browser.ts'
import { startNewcomer } from '../support/newcomer.ts'
import { npmStart, ownConfig } from '../support/npm-start.ts'
import { freePort } from '../support/ports.ts'

const ROOT = new URL('../../', import.meta.url).pathname

/** Typed elsewhere, by whom. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^npm ci && npm (?:start|test)\b/, 'first-run.test.ts, and whoever runs this'],
  [
    /^cp config\.example\.yaml|^npm run (?:control-plane|gateway) |^npm start -- /,
    'first-run.test.ts',
  ],
  [/\/connector\/node$|^service-connector /m, 'connector.test.ts'],
  [/^service-analyzer setup\b/, 'analyzer/setup.test.ts, which answers what it asks'],
  [/^service-analyzer (?:login|apply|verify)\b/, 'newcomer.test.ts, which answers what they ask'],
]

/** A stranger's network is none of ours: that far they come, and no field of theirs is wrong. */
const WITHOUT_INTERNET: readonly (readonly [RegExp, RegExp])[] = [
  [/\/user-directory /, /"error":"directory_refused"/],
  [/hooks\.example\.com/, /"webhook_id":|the name does not resolve/],
]

/** As a person has it, but that a refusal shows in its exit code. */
const CURL = `#!/bin/sh
case $1 in -f*) ;; *) set -- --fail-with-body "$@" ;; esac
exec /usr/bin/curl "$@"
`

const TOOL_README = join(ROOT, 'control-plane/downloads/analyzer/README.md')
const OTHER_READMES = ['connector/README.md', 'sdk-node/package/README.md'].map((path) =>
  join(ROOT, 'control-plane/downloads', path),
)
/** Of the tool: what asks a person or needs a key of theirs is typed in newcomer.test.ts. */
const ASKS =
  /^service-analyzer (?:setup|login|apply|verify|go-live|complete)\b|^export |^npm install +#/

interface Block {
  readonly language: string
  readonly text: string
}

function blocksOf(markdown: string): Block[] {
  const found = markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)
  return [...found].map(([, language = '', text = '']) => ({ language, text }))
}

/** One command may go over several lines. */
function commandsOf(text: string): string[] {
  const commands: string[] = []
  let command = ''
  for (const line of text.split('\n')) {
    command += `${line}\n`
    const isOpen = line.endsWith('\\') || (command.split("'").length - 1) % 2 === 1
    if (isOpen) continue
    if (command.trim() !== '') commands.push(command)
    command = ''
  }
  return commands
}

function openShell(t: Test, cwd: string, environment: Record<string, string>) {
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd,
    env: environment,
    stdio: 'pipe',
    detached: true,
  })
  t.after(() => void process.kill(-(shell.pid ?? 0), 'SIGKILL'))
  shell.stdin.write('set -o pipefail\n')
  const lines: string[] = []
  let ended = Promise.withResolvers<number>()
  for (const output of [shell.stdout, shell.stderr])
    createInterface({ input: output }).on('line', (line) => {
      const [, code] = /^ended with (\d+)$/.exec(line) ?? []
      if (code === undefined) lines.push(line)
      else ended.resolve(Number(code))
    })
  return async (command: string) => {
    lines.length = 0
    ended = Promise.withResolvers<number>()
    shell.stdin.write(`${command}\nprintf '\\nended with %s\\n' $?\n`)
    return { code: await ended.promise, output: lines.join('\n') }
  }
}

t.test('every command of the README does what it says', async (t) => {
  const service = await ownConfig()
  await npmStart(t, service.file).isUp
  const newcomer = await startNewcomer(t, {})
  const here = join(newcomer.home, 'service')
  mkdirSync(here)
  symlinkSync(join(service.folder, 'data'), join(here, 'data'))
  const bin = join(newcomer.home, '.local/bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'curl'), CURL)
  chmodSync(join(bin, 'curl'), 0o755)
  const port = await freePort()
  const type = openShell(t, here, newcomer.environment)

  /** Ports alone are other ones here, and what is written in capitals is filled in. */
  let keyId = ''
  const asTyped = (text: string) =>
    text
      .replaceAll('localhost:8080', `localhost:${service.ports.public}`)
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
      .replaceAll('listen(3000)', `listen(${port})`)
      .replaceAll('KEY_ID', keyId)

  for (const { language, text } of blocksOf(readFileSync(join(ROOT, 'README.md'), 'utf8'))) {
    const [, file] = /^\/\/ (\S+)\n/.exec(text) ?? []
    if (language === 'js' && file !== undefined)
      writeFileSync(join(newcomer.home, 'shop', file), asTyped(text))
    if (language !== 'sh') continue
    for (const command of commandsOf(text)) {
      if (ELSEWHERE.some(([known]) => known.test(command))) continue
      const { code, output } = await type(asTyped(command))
      keyId = /"key_id":"(\w+)","key":/.exec(output)?.[1] ?? keyId
      const told = `${command.trim()}\n${output.slice(0, 500)}`
      const known = WITHOUT_INTERNET.find(([words]) => words.test(command))
      if (known === undefined) t.equal(code, 0, told)
      else t.match(output, known[1], told)
      if (/go-live/.test(command)) await greets(t, `http://acme.localhost:${service.ports.edge}`)
    }
  }

  const baseUrl = `http://localhost:${service.ports.public}`
  const prefix = join(newcomer.home, 'npm')
  await type(`export npm_config_prefix=${prefix} PATH=${prefix}/bin:$PATH`)
  for (const { language, text } of blocksOf(readFileSync(TOOL_README, 'utf8'))) {
    if (language !== 'sh') continue
    for (const command of commandsOf(text.replaceAll('{base_url}', baseUrl))) {
      if (ASKS.test(command)) continue
      const { code, output } = await type(command.replace('my-application', `'${newcomer.folder}'`))
      t.equal(code, 0, `${command.trim()}\n${output.slice(0, 500)}`)
    }
  }

  // of what else is installed; whom it asks, and what runs on, is typed elsewhere
  const own = join(newcomer.home, 'own-bin')
  for (const readme of OTHER_READMES)
    for (const { language, text } of blocksOf(readFileSync(readme, 'utf8'))) {
      const typed = text
        .replaceAll(/\{base_url\}|https:\/\/service\.example\.com/g, baseUrl)
        .replaceAll('/usr/local/bin', own)
      if (language !== 'sh') continue
      for (const command of commandsOf(typed)) {
        if (/^service-connector /.test(command)) continue
        const { code, output } = await type(command)
        t.equal(code, 0, `${command.trim()}\n${output.slice(0, 500)}`)
      }
    }
  for (const program of [join(own, 'service-connector'), join(prefix, 'bin/service-connector')])
    t.equal((await type(`${program} --help`)).code, 0, program)
})

async function greets(t: Test, edge: string) {
  const grace = new Browser()
  t.after(() => grace.close())
  const greeted = await grace.signIn(`${edge}/`, 'grace', 'a long phrase of your own')
  t.match(greeted, { status: 200, text: 'Hello, Grace' })
  t.match(await grace.fetch(`${edge}/admin`), { status: 404 })
}
