/**
 * The demo through a connector: settings with a door for connectors, and one that has joined the
 * demo tenant with a token of its own, as anybody's would.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { Writable } from 'node:stream'
import { parseDocument } from 'yaml'
import { edgeUrlFor, listenText, type Config } from '../../shared/config/config.ts'
import type { ProgramWorld } from '../downloads/connector/commands/command.ts'
import { run } from '../downloads/connector/program.ts'
import { createStateFolder } from '../downloads/connector/state/state-folder.ts'
import { expectStatus, type ApiClient } from './api-client.ts'

/** What is written down counts; a door is added where there is none, and the edge's address stays. */
function configWithDoor(text: string, config: Config): string {
  const document = parseDocument(text)
  const door = listenText(config.gateway.tls_listen ?? config.demo.connector_listen)
  if (config.gateway.tls_listen === null) {
    document.setIn(['edge_url'], edgeUrlFor(config, '{hostname}'))
    document.setIn(['gateway', 'tls_listen'], door)
  }
  if (config.gateway.connect_address === null) document.setIn(['gateway', 'connect_address'], door)
  return document.toString()
}

export function writeConfigWithDoor(text: string, config: Config): string {
  const file = `${config.data_dir}/demo-connector.yaml`
  writeFileSync(file, configWithDoor(text, config), { mode: 0o600 })
  return file
}

/** As its entrance has it, in a process that is not its own. */
export function connectorWorld(environment: Record<string, string>): ProgramWorld {
  return {
    environment,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    homeFolder: '/',
    hostName: hostname(),
    userId: process.getuid?.(),
    platform: process.platform,
    nodeFile: process.execPath,
    programFile: '',
    nowMs: Date.now,
    upMs: () => performance.now(),
    random: Math.random,
    onSignal: () => undefined,
  }
}

interface JoinWorld {
  readonly operator: ApiClient
  readonly tenantId: string
  readonly baseUrl: string
  readonly origin: string
  readonly state: string
}

/** One that was revoked, or belongs to a database that is gone, joins anew. */
export async function joinDemo(world: JoinWorld): Promise<void> {
  const { operator, tenantId, baseUrl, origin, state } = world
  const path = `/operator/tenants/${tenantId}`
  const joined = await createStateFolder(state, { userId: process.getuid?.() }).read()
  const listed = await operator.request('GET', `${path}/connectors`)
  const known = expectStatus(listed, 'reading the connectors of the demo', 200).body['items']
  const isKnown = (known as { connector_id: string }[]).some(
    ({ connector_id: id }) => id === joined?.connector_id,
  )
  if (isKnown && joined?.origin === origin) return
  rmSync(state, { recursive: true, force: true })
  const made = await operator.request('POST', `${path}/connector-tokens`, { expires_in: 300 })
  const { token } = expectStatus(made, 'making a join token for the demo', 201).body
  const said: string[] = []
  const quiet = new Writable({
    write(chunk: Buffer, _encoding, done) {
      said.push(chunk.toString())
      done()
    },
  }) as NodeJS.WriteStream
  const code = await run(['join', '--origin', origin, '--state', state, '--name', 'npm start'], {
    ...connectorWorld({ SERVICE_BASE_URL: baseUrl, SERVICE_CONNECTOR_TOKEN: String(token) }),
    stdout: quiet,
    stderr: quiet,
  })
  if (code !== 0) throw new Error(`the connector of the demo could not join: ${said.join('')}`)
}
