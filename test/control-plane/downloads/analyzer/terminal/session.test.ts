/** At a pseudo terminal: what is asked, how it is answered, and that the terminal is as before. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { columnsOf } from '../../../../../control-plane/downloads/command-line/words.ts'
import {
  atTerminal,
  plainEnvironment,
  startAnalyzer,
} from '../../../../support/analyzer-program.ts'

const analyzer = startAnalyzer(t)
const hasTerminals = isThere('script') && isThere('stty')
const skip = !hasTerminals && 'no script (util-linux) here'

function isThere(tool: string): boolean {
  try {
    return execFileSync('which', [tool]).length > 0
  } catch {
    return false
  }
}

async function start(t: Test, columns = 80, more: Record<string, string> = {}) {
  const own = await (await analyzer).tenant(t)
  const environment = { ...plainEnvironment(own.home), ...more }
  const line = (words: string) => `'${process.execPath}' '${own.program}' ${words}`
  return {
    ...own,
    environment,
    at: (words: string, environmentNow: Record<string, string> = environment) =>
      atTerminal(t, line(words), { columns, environment: environmentNow, folder: own.project }),
    /** With the settings of the terminal as they are afterwards. */
    atWithSettings: (words: string) =>
      atTerminal(t, `${line(words)}; code=$?; stty -a; exit $code`, {
        columns,
        environment,
        folder: own.project,
      }),
    profile: join(own.home, '.config/service-analyzer/profile.json'),
  }
}

/** What a reader sees: without colours, and of a line that was drawn over its last state. */
function seen(screen: string): string[] {
  const plain = screen.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '')
  return plain.split(/\r*\n/).map((line) => line.split('\r').at(-1) ?? '')
}

void t.test('a key is asked for without being shown, and saved', { skip }, async (t) => {
  const { at, key, profile } = await start(t)
  const session = at('login --key')
  await session.shown('Analyzer key (not shown):')
  session.type(`${key.slice(0, 10)}zz\u007f\u007f${key.slice(10)}\r`) // mistyped and mended
  const { code, screen } = await session.ended
  t.equal(code, 0)
  t.match(screen.replaceAll(/\s+/g, ' '), /is saved in .* for you alone\./)
  t.notOk(screen.includes(key.slice(4, 14)), 'no part of it is on the screen')
  t.ok(existsSync(profile))
})

void t.test('a command that needs a key asks for it, and does not save it', { skip }, async (t) => {
  const { at, key, profile } = await start(t)
  const session = at('status')
  await session.shown('Analyzer key (not shown):')
  session.type(`${key}\r`)
  const { code, screen } = await session.ended
  t.equal(code, 1)
  t.match(screen, /Tenant acme-/)
  t.notOk(screen.includes(key))
  t.notOk(existsSync(profile))
})

for (const [name, keys] of [
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
] as const)
  void t.test(
    `${name} at a question ends it, and the terminal is as before`,
    { skip },
    async (t) => {
      const { atWithSettings, profile } = await start(t)
      const session = atWithSettings('login --key')
      await session.shown('Analyzer key (not shown):')
      session.type(keys)
      const { code, screen } = await session.ended
      t.equal(code, 130)
      t.match(screen, 'Interrupted.')
      t.match(screen, /[^-]icanon.*[^-]echo /s, 'lines and echo are on again')
      t.notOk(existsSync(profile))
    },
  )

void t.test('Ctrl-C ends long work, and no half line is left', { skip }, async (t) => {
  const { at, environment, key } = await start(t)
  const silent = createServer() // takes the question and says nothing
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const session = at('probe', {
    ...environment,
    SERVICE_ANALYZER_KEY: key,
    SERVICE_BASE_URL: `http://127.0.0.1:${port}`,
  })
  await session.shown('The service is checking the application')
  session.type('\u0003')
  const { code, screen } = await session.ended
  t.equal(code, 130)
  t.notMatch(seen(screen).join('\n'), 'The service is')
})

void t.test('a keyboard that is gone is no answer', { skip }, async (t) => {
  const { at } = await start(t)
  const session = at('login --key')
  await session.shown('Analyzer key (not shown):')
  session.hangUp()
  t.equal((await session.ended).code, 130)
})

void t.test('forty columns are enough for every command', { skip }, async (t) => {
  const { at, environment, key } = await start(t, 40)
  const withKey = { ...environment, SERVICE_ANALYZER_KEY: key }
  for (const words of ['help', 'help apply', 'status', 'probe', 'doctor', 'undo', 'verfy']) {
    const { screen } = await at(words, withKey).ended
    const isToCopy = (line: string) => /^ {2}service-analyzer /.test(line)
    const isOneWord = (line: string) => !/\S\s+\S/.test(line.replace(/^[\s>~?!-]+/, ''))
    for (const line of seen(screen))
      t.ok(columnsOf(line) <= 40 || isToCopy(line) || isOneWord(line), `${words}: ${line}`)
  }
})

void t.test('colours at a terminal, and none for whoever wants none', { skip }, async (t) => {
  const { at, environment, key } = await start(t)
  const withKey = { ...environment, SERVICE_ANALYZER_KEY: key }
  const COLOUR = /\u001b\[3\dm/
  t.match((await at('status', withKey).ended).screen, COLOUR)
  for (const more of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
    t.notMatch((await at('status', { ...withKey, ...more }).ended).screen, COLOUR)
  t.notMatch((await at('status --no-color', withKey).ended).screen, COLOUR)
  const forced = { ...withKey, NO_COLOR: '', FORCE_COLOR: '1' }
  t.match((await at('status | cat', forced).ended).screen, COLOUR)
})

void t.test(
  'long work is drawn over at a terminal, and leaves nothing behind',
  { skip },
  async (t) => {
    const { at, environment, key, run } = await start(t)
    const withKey = { ...environment, SERVICE_ANALYZER_KEY: key }
    const { screen } = await at('probe', withKey).ended
    t.match(screen, /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] The service is checking the application …/)
    t.notMatch(seen(screen).join('\n'), 'The service is checking', 'the line is gone')
    const dumb = await at('probe', { ...withKey, TERM: 'dumb' }).ended
    t.match(
      dumb.screen,
      /^The service is checking the application …\r\n/m,
      'a plain line elsewhere',
    )
    const ascii = await at('probe', { ...withKey, LANG: 'C' }).ended
    t.match(ascii.screen, /[|/\\-] The service is/)
    t.match(await run(['probe']), { err: 'The service is checking the application …\n' })
  },
)
