/** How the program is called: what it says of itself, what it refuses, and a token that nobody sees. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { OPTIONS } from '../../../../control-plane/downloads/connector/arguments.ts'
import { COMMANDS } from '../../../../control-plane/downloads/connector/commands.ts'
import { VERSION } from '../../../../shared/version.ts'
import { atTerminal } from '../../../support/analyzer-program.ts'
import { connectorHere, startJoinable } from '../../../support/connector-program.ts'

const folder = new URL('../../../../control-plane/downloads/connector/', import.meta.url)
const README = readFileSync(new URL('README.md', folder), 'utf8')

void t.test('help and the README name every command, option and variable', async (t) => {
  const { call } = connectorHere(t, {})
  const help = await call(['--help'])
  t.equal(help.code, 0)
  for (const { name, options, actions } of COMMANDS) {
    t.match(help.out, `\n  ${name} `)
    t.match(README, new RegExp(`[\`| ]${name}[\` ]`), name)
    for (const args of [
      ['help', name],
      [name, '--help'],
    ]) {
      const { code, out } = await call(args)
      t.equal(code, 0)
      for (const word of [...options.map((option) => `--${option}`), ...actions]) t.match(out, word)
    }
  }
  for (const name of Object.keys(OPTIONS).filter((name) => !['help', 'version'].includes(name)))
    t.match(README, `--${name}`)
  for (const [, variable = ''] of help.out.matchAll(/^ {2}([A-Z_]{6,})/gm))
    t.match(README, `\`${variable}\``)
  t.strictSame(await call(['--version']), { code: 0, out: `${VERSION}\n`, err: '' })
})

void t.test('what it does not know is refused, with what was perhaps meant', async (t) => {
  const { call } = connectorHere(t, {})
  const cases: readonly (readonly [string[], RegExp])[] = [
    [[], /No command given\.\nTo start: service-connector join/],
    [['jion'], /Unknown command "jion"; did you mean join\?/],
    [['run', '--orign', 'x'], /run does not take "--orign"/],
    [['join', '--orign', 'x'], /did you mean --origin\?/],
    [['join', '--origin'], /--origin requires a value: URL/],
    [['join', '--origin', 'http://a', '--origin', 'http://b'], /--origin appears twice/],
    [['run', 'now'], /run does not take "now"/],
    [['run', '--help=x'], /./],
    [['service'], /service must be followed by install or uninstall/],
    [['service', 'instal'], /did you mean install\?/],
  ]
  for (const [args, said] of cases) {
    const { code, err, out } = await call(args)
    t.match(err + out, said, args.join(' '))
    if (args[1] !== '--help=x') t.equal(code, 2)
  }
})

void t.test('without an address it says which one it needs', async (t) => {
  const world = { environment: { SERVICE_CONNECTOR_TOKEN: 'sct_x' } }
  const { call, home } = connectorHere(t, {})
  const joining = ['join', '--origin', 'http://127.0.0.1:1', '--state', join(home, 'state')]
  t.match(await call(joining, world), { code: 2, err: /^SERVICE_BASE_URL is not set/ })
  for (const wrong of [
    'id.example',
    'ftp://id.example',
    'https://me:x@id.example',
    'https://a/?b',
  ]) {
    const environment = { ...world.environment, SERVICE_BASE_URL: wrong }
    t.match(
      await call(joining, { environment }),
      { code: 2, err: /must be an address like/ },
      wrong,
    )
  }
  const open = { ...world.environment, SERVICE_BASE_URL: 'http://nobody.invalid' }
  t.match(await call(joining, { environment: open }), {
    code: 3,
    err: /^http:\/\/nobody\.invalid is not encrypted, so the token could be intercepted/,
  })
})

void t.test('a token that is asked for is not shown', async (t) => {
  const { baseUrl, token, connectors } = await startJoinable(t)
  const { home } = connectorHere(t, {})
  const secret = await token()
  const main = new URL('main.ts', folder).pathname
  const line = `'${process.execPath}' '${main}' join --origin http://127.0.0.1:1 --state '${join(home, 'state')}'`
  const environment = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    SERVICE_BASE_URL: baseUrl,
  }
  const session = atTerminal(t, line, { columns: 80, environment, folder: home })
  await session.shown('Join token (hidden):')
  session.type(`${secret}\r`)
  const { code, screen } = await session.ended
  t.equal(code, 0, screen)
  t.match(screen, /Joined acme as/)
  t.notMatch(screen, secret.slice(0, 12))
  t.equal((await connectors()).length, 1)
})
