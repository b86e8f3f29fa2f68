import { createServer } from 'node:net'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Browser } from '../support/browser.ts'
import { until } from '../support/fleet.ts'
import { npmStart, ownConfig } from '../support/npm-start.ts'
import { Program } from '../support/programs.ts'

t.test(
  'one command: a newcomer signs in and is greeted, and a second start keeps everything',
  async (t) => {
    const { folder, ports, file, edge } = await ownConfig()
    const first = npmStart(t, file, '--log')
    await first.isUp
    for (const address of [`${edge}/`, `http://localhost:${ports.public}/console`])
      t.match(first.output(), address, `${address} is printed`)
    t.match(first.output(), 'protection       on, verified')
    await until(() => /"msg":"gateway connected"/.test(first.output()))
    const summary = () => first.output().split('service is up.')
    t.notMatch(summary()[0], '{"level"', 'the summary comes first')
    // and with --log all that was logged, each line when its program writes it
    await until(() => /"kind":"request"/.test(summary()[1] ?? ''))
    t.notMatch(first.output(), /"level":[456]0/, 'a good start has nothing to warn of')
    const link = /first operator\s+(\S+)/.exec(first.output())?.[1] ?? ''
    t.match(link, /\/console\/welcome\?link=[\w-]{32}$/, 'and a link for the first operator')

    const ada = new Browser()
    t.after(() => ada.close())
    const page = await ada.open(`${edge}/`)
    t.match(page.url, `http://localhost:${ports.public}/auth/realms/demo/`, 'asked to sign in')
    t.match(await ada.submit(page, { username: 'ada', password: 'wrong' }), { status: 422 })
    const greeted = await ada.signIn(`${edge}/`, 'ada', first.password())
    t.match(greeted, { status: 200, url: `${edge}/`, text: /Hello, Ada Lovelace/ })
    t.match(await ada.fetch(`${edge}/internal`), { status: 404 }, 'a sealed path does not exist')
    t.equal(statSync(join(folder, 'data/secrets.json')).mode & 0o777, 0o600)

    first.interrupt()
    await first.ended
    for (const program of ['gateway', 'control plane'])
      t.match(first.output(), `${program} stopped`, `Ctrl-C ends the ${program} cleanly`)
    for (const port of Object.values(ports)) t.ok(await isFree(port), `${port} is free again`)

    const second = npmStart(t, file)
    await second.isUp
    t.equal(second.password(), first.password(), 'the same ada')
    t.match(await ada.fetch(`${edge}/`), { status: 200 }, 'still signed in')
    t.notMatch(second.output(), '{"level"', 'without --log nothing but the summary')
    const log = first.output() + second.output()
    const secrets = JSON.parse(readFileSync(join(folder, 'data/secrets.json'), 'utf8')) as object
    for (const secret of Object.values(secrets)) t.notMatch(log, secret as string)
    second.endNpmAlone()
    await second.ended
    t.match(second.output(), 'Stopped.')
    for (const port of Object.values(ports)) t.ok(await isFree(port), `${port} is free again`)

    const third = npmStart(t, file, '--demo', 'connector')
    await third.isUp
    t.match(third.output(), /reached by +a connector/)
    t.notMatch(third.output(), '{"level"')
    t.match(await ada.fetch(`${edge}/`), { status: 200 }, 'the same, without an open port')
    t.equal(statSync(join(folder, 'data/demo-connector')).mode & 0o777, 0o700)
    third.interrupt()
    await third.ended
    for (const port of Object.values(ports)) t.ok(await isFree(port), `${port} is free again`)
  },
)

t.test('without the demo, the same command starts an empty service', async (t) => {
  const { file, edge } = await ownConfig()
  const service = npmStart(t, file, '--no-demo')
  await service.isUp
  t.notMatch(service.output(), 'Demo application')
  const browser = new Browser()
  t.after(() => browser.close())
  t.match(await browser.fetch(`${edge}/`), { status: 404 })
  service.interrupt()
  await service.ended
})

t.test('a port that is taken is named, with the setting that changes it', async (t) => {
  const { ports, file } = await ownConfig()
  for (const [port, setting, program] of [
    [ports.public, 'control_plane.listen', 'control-plane/main.ts'],
    [ports.fleet, 'control_plane.fleet_listen', 'control-plane/main.ts'],
    [ports.edge, 'gateway.listen', 'gateway/main.ts'],
    [ports.demo, 'demo.listen', 'control-plane/launch/demo.ts'],
  ] as const) {
    const squatter = createServer()
    await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve))
    const started = new Program(program, ['--config', file])
    t.equal(await started.exited, 1, `${setting}: the start fails`)
    t.match(started.output, `127.0.0.1:${port} is already in use`, setting)
    t.match(started.output, setting)
    t.notMatch(started.output, /at .*\.ts:\d+/, 'and no stack trace')
    await new Promise((resolve) => squatter.close(resolve))
  }
})

t.test('a second gateway of the same name does not disturb the first', async (t) => {
  const { file } = await ownConfig()
  const first = new Program('gateway/main.ts', ['--config', file])
  t.after(async () => void (await first.stop('SIGKILL')))
  await first.ready
  const second = new Program('gateway/main.ts', ['--config', file])
  t.equal(await second.exited, 2)
  t.match(second.output, /gateway\.id: gateway "[^"]+" is already running as process \d+/)
  await first.stop('SIGKILL')
  const third = new Program('gateway/main.ts', ['--config', file])
  t.after(async () => void (await third.stop('SIGKILL')))
  await third.ready
  t.pass("what a crash leaves behind is nobody's")
})

t.test('npm start ends all when one cannot start', async (t) => {
  const { ports, file } = await ownConfig()
  const squatter = createServer()
  await new Promise<void>((resolve) => squatter.listen(ports.edge, '127.0.0.1', resolve))
  t.after(() => void squatter.close())
  const service = npmStart(t, file)
  t.not(await service.ended, 0)
  t.match(service.output(), `127.0.0.1:${ports.edge} is already in use`)
  for (const port of [ports.public, ports.fleet, ports.demo]) t.ok(await isFree(port), `${port}`)
})

t.test('a wrong setting stops the start with one line', async (t) => {
  const file = join(t.testdir(), 'config.yaml')
  writeFileSync(file, 'gateway: { listen: eighty }\n')
  const service = npmStart(t, file)
  t.not(await service.ended, 0)
  t.match(service.output(), `${file}: gateway.listen: expected host:port, got "eighty"`)
  t.notMatch(service.output(), /at .*\.ts:\d+/)
})

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
