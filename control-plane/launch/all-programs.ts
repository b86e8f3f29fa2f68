/** Control plane, gateway and demo application, ready to be looked at: what `npm start` runs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as wait } from 'node:timers/promises'
import { ConfigError, edgeUrlFor, listenText } from '../../shared/config/config.ts'
import type { Settings } from '../../shared/config/settings.ts'
import { loadSettings, mailboxKey } from '../config.ts'
import { createApiClient } from './api-client.ts'
import { createChildren, ProgramEnded, type Children } from './children.ts'
import { operatorLink } from './operator-link.ts'
import { createProgramLog } from './program-log.ts'
import {
  connectorServes,
  DEMO,
  gatewaysServe,
  seedDemo,
  type DemoKeep,
  type SeededDemo,
} from './seed.ts'

const NO_DEMO = '--no-demo'
const LOG = '--log'
const CONNECTOR_DEMO = '--demo=connector'
const PARENT_CHECK_MS = 500
/** It brings the whole connector along, and few ask for it. */
const connectorDemo = () => import('./connector-demo.ts')
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

async function run(settings: Settings, isStopped: Promise<undefined>) {
  const { flags } = settings
  const hasDemo = !flags.has(NO_DEMO)
  const configFile = await configFileOf(settings)
  const args = configFile === undefined ? [] : ['--config', configFile]
  const log = createProgramLog(flags.has(LOG), process.stdout)
  void isStopped.then(log.ending)
  const children = createChildren(log.take)
  process.stderr.write('\n  Starting …\n')
  try {
    const controlPlane = children.start({ name: 'control plane', file: at('../main.ts'), args })
    // a gateway that comes first would warn that nobody answers it, and a demo find no keys
    const ready = controlPlane.then(() =>
      Promise.all([
        children.start({ name: 'gateway', file: at('../../gateway/main.ts'), args }),
        hasDemo && children.start({ name: 'demo application', file: at('demo.ts'), args }),
      ]),
    )
    const seeding = controlPlane.then(() =>
      hasDemo ? seed(settings, children, ready) : gatewayConnected(settings),
    )
    seeding.catch(() => {}) // cut off in the middle by Ctrl-C, or by a program that did not start
    const isUp = await Promise.race([ready.then(() => true), isStopped.then(() => false)])
    if (!isUp) return
    const seeded = await Promise.race([seeding.then((demo) => ({ demo })), isStopped])
    if (seeded === undefined) return
    const { demo } = seeded
    const operator = createApiClient(
      settings.config.base_url,
      settings.secrets.SERVICE_OPERATOR_KEY,
    )
    process.stdout.write(summary(settings, demo, await operatorLink(operator, false)))
    log.release()
    const ended = await Promise.race([children.ended, isStopped.then(() => undefined)])
    if (ended !== undefined) throw new Error(`the ${ended} stopped, so the other programs stop too`)
  } finally {
    log.release()
    await children.stop()
    process.stderr.write('  Stopped.\n')
  }
}

async function gatewayConnected({ config, secrets }: Settings): Promise<undefined> {
  const operator = createApiClient(config.base_url, secrets.SERVICE_OPERATOR_KEY)
  await gatewaysServe({ operator, wait }, 0)
}

/** What the programs are started with. */
async function configFileOf({ config, configFile, flags }: Settings): Promise<string | undefined> {
  if (!flags.has(CONNECTOR_DEMO)) return configFile
  const { writeConfigWithDoor } = await connectorDemo()
  return writeConfigWithDoor(
    configFile === undefined ? '' : readFileSync(configFile, 'utf8'),
    config,
  )
}

function seed(
  { config, secrets, flags }: Settings,
  children: Children,
  ready: Promise<unknown>,
): Promise<SeededDemo> {
  const file = `${config.data_dir}/demo.json`
  const client = (key: string) => createApiClient(config.base_url, key)
  const operator = client(secrets.SERVICE_OPERATOR_KEY)
  const origin = `http://${listenText(config.demo.listen)}`
  return seedDemo({
    operator,
    analyzer: client,
    origin,
    mode: flags.has(CONNECTOR_DEMO) ? 'connector' : 'gateway',
    async connect() {
      const { base_url: baseUrl } = config
      const { joinDemo } = await connectorDemo()
      const state = resolve(config.data_dir, 'demo-connector')
      await joinDemo({ operator, tenantId: DEMO.tenantId, baseUrl, origin, state })
      const args = [state, baseUrl]
      await children.start({ name: 'connector', file: at('connector.ts'), args })
      await connectorServes({ operator, wait })
    },
    ready,
    kept: readKept(file),
    keep: (kept) => writeFileSync(file, JSON.stringify(kept), { mode: 0o600, flush: true }),
    wait,
  })
}

function readKept(file: string): DemoKeep | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as DemoKeep
  } catch {
    return undefined // the first start, or one that was cut short
  }
}

function summary(
  { config, configFile, secrets, environment, flags }: Settings,
  demo: SeededDemo | undefined,
  link: string | undefined,
): string {
  const lines = [
    '',
    '  The sign-in protection service is up.',
    '',
    ...(demo === undefined
      ? []
      : [
          `  Demo application   ${edgeUrlFor(config, DEMO.hostname)}/`,
          `    sign in as       ${DEMO.username}`,
          `    password         ${demo.password}`,
          ...(flags.has(CONNECTOR_DEMO)
            ? ['    reached by       a connector, as without an open port']
            : []),
          `    protection       ${demo.isLive ? 'on, verified' : `off: ${demo.problem}`}`,
        ]),
    `  Console            ${config.base_url}/console`,
    ...(link === undefined
      ? []
      : [
          `    first operator   ${link}`,
          '                     works once, for 15 minutes; npm run console-link makes another',
        ]),
    `  API                ${config.base_url}/api/v1/contract`,
    ...(environment['SERVICE_SMTP_URL']
      ? []
      : [
          `  Mailbox            ${config.base_url}/mailbox`,
          `    sign in as       mailbox ${mailboxKey(secrets.SERVICE_OPERATOR_KEY)}`,
        ]),
    `  Gateway            ${listenText(config.gateway.listen)}`,
    '',
    `  Settings: ${configFile ?? 'built-in (config.example.yaml shows them)'}   Data: ${config.data_dir}`,
    '  Ctrl-C stops everything; the data stays. Requests are logged with: npm start -- --log',
    '',
  ]
  return `${lines.join('\n')}\n`
}

/** A signal; or npm was ended alone, whose shell does not hand signals on. */
function stopSignal(): Promise<undefined> {
  const parent = process.ppid
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => resolve(undefined))
    setInterval(() => {
      if (process.ppid !== parent) resolve(undefined)
    }, PARENT_CHECK_MS).unref()
  })
}

export async function runPrograms(given: readonly string[]): Promise<void> {
  try {
    const args = given.join('\0').replace('--demo\0', '--demo=').split('\0')
    const named = args.filter((arg) => arg !== '')
    const settings = loadSettings(named, [NO_DEMO, LOG, CONNECTOR_DEMO])
    await run(settings, stopSignal())
  } catch (error) {
    const isExplained = error instanceof ProgramEnded // it has said why itself
    if (!isExplained) process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = error instanceof ConfigError ? 2 : 1
  }
}
