/** Joins once: a key is made here, and its public half is known to the service from then on. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { LIMITS } from '../../../../shared/limits.ts'
import { VERSION } from '../../../../shared/version.ts'
import { ask } from '../../command-line/prompt.ts'
import { plainText, visibleText } from '../../command-line/words.ts'
import { invalid } from '../arguments.ts'
import { EXIT, Problem } from '../../command-line/exit.ts'
import { readGatewayList } from '../service/gateway-list.ts'
import { createService } from '../service/service.ts'
import { readBaseUrl } from '../../command-line/base-url.ts'
import { makeKey, publicKeyOf } from '../state/own-keys.ts'
import { readOriginCa } from '../state/origin-ca.ts'
import type { Joined } from '../state/state-folder.ts'
import type { Command, Task } from './command.ts'

export const join: Command = {
  name: 'join',
  summary: 'Joins this machine to your tenant with a join token.',
  about:
    'The token comes from --token-file, from SERVICE_CONNECTOR_TOKEN, or is asked for; never from the command line. The key that is made here stays in the state folder.',
  options: ['origin', 'origin-ca', 'token-file', 'name'],
  actions: [],
  async run(task) {
    const { given, world, state, proxies, print } = task
    const origin = readOrigin(given.options.get('origin'))
    const originCa = await readCa(given.options.get('origin-ca'), origin)
    const name = readName(given.options.get('name') ?? world.hostName)
    const base = readBaseUrl(world.environment)
    const service = createService({ baseUrl: base.text, proxies })
    const before = await state.read()
    if (before !== null) throw alreadyJoined(before, state.path)
    if (base.isOpen)
      task.remark(`${base.text} is not encrypted, so the token could be intercepted.`)
    const token = await readToken(task)

    // On the disk before it is told: who asks again with it is the same connector.
    const { key } = (await state.readJoining()) ?? { key: makeKey(world.nowMs()) }
    await state.writeJoining({ version: 1, key })
    const wish = { publicKey: publicKeyOf(key), name, program: VERSION }
    const { key_id: keyId, document, ...identity } = await service.join(token, wish)
    const list = readGatewayList(document, identity)
    if (typeof list === 'string')
      throw new Problem('not_the_service', `The list of gateways cannot be used: ${list}.`)
    const next = list.authorities?.[1]
    await state.writeList(document)
    await state.write({
      version: 1,
      base_url: service.baseUrl,
      origin,
      ...(originCa !== undefined && { origin_ca: originCa }),
      ...identity,
      ...(next !== undefined && { next_authority: next }),
      name,
      key: { ...key, key_id: keyId },
    })
    await state.endJoining()
    print(
      `Joined ${identity.tenant_id} as ${visibleText(name)} (${identity.connector_id}).\nStart it: service-connector run${stateOption(task)}`,
    )
    if (list.gateways.length === 0)
      task.remark(
        'No gateway takes connectors yet: ask the operator to set gateway.connect_address. The connector waits for one.',
      )
    return EXIT.done
  },
}

const stateOption = ({ given }: Task): string => {
  const folder = given.options.get('state')
  return folder === undefined ? '' : ` --state ${visibleText(folder)}`
}

/** One application, and nothing that comes later can choose another. */
function readOrigin(text: string | undefined): string {
  if (text === undefined)
    throw invalid(
      'join needs --origin: where your application listens.',
      'Like this: service-connector join --origin http://127.0.0.1:3000',
    )
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin =
    url !== undefined &&
    /^https?:\/\//i.test(text) &&
    url.username + url.password + url.search + url.hash === '' &&
    url.pathname === '/' &&
    !/[?#]/.test(text)
  if (isOrigin) return url.origin
  throw invalid(
    '--origin must be http:// or https:// with a host and a port, and nothing behind it.',
    'Like this: --origin http://127.0.0.1:3000',
  )
}

/** It is kept with the key: what runs as a service reads no other file. */
async function readCa(file: string | undefined, origin: string): Promise<string | undefined> {
  if (file === undefined || origin.startsWith('https:'))
    return file === undefined ? undefined : readOriginCa(file)
  throw invalid(
    '--origin-ca is for an application that speaks https:// only.',
    `Leave it out, or join with --origin ${origin.replace(/^http:/, 'https:')}`,
  )
}

function readName(text: string): string {
  const name = plainText(text).slice(0, LIMITS.connectorNameCharactersMax)
  return name === '' ? 'connector' : name
}

const alreadyJoined = ({ tenant_id: tenantId, connector_id: id }: Joined, path: string) =>
  new Problem(
    'already_joined',
    `${visibleText(path)} already holds connector ${id} of ${tenantId}.`,
    'Start it: service-connector run',
    'To join again, leave first: service-connector leave. For a second connector, use another folder with --state.',
  )

async function readToken(task: Task): Promise<string> {
  const { given, world } = task
  const file = given.options.get('token-file')
  const inEnvironment = world.environment['SERVICE_CONNECTOR_TOKEN']?.trim() ?? ''
  if (file !== undefined) return checked(await readTokenFile(file, task), '--token-file')
  if (inEnvironment !== '') return checked(inEnvironment, 'SERVICE_CONNECTOR_TOKEN')
  if (world.stdin.isTTY !== true || world.stderr.isTTY !== true)
    throw new Problem(
      'token_missing',
      'join needs a join token.',
      'Make one on the Connectors page of your tenant and put it into a file that only you can read: --token-file FILE',
    )
  return checked(await ask(world.stdin, world.stderr, 'Join token (hidden): ', true), 'The answer')
}

const TOKEN_BYTES_MAX = 4096

async function readTokenFile(path: string, { world, remark }: Task): Promise<string> {
  const shown = visibleText(path)
  try {
    const file = await open(path, constants.O_RDONLY)
    try {
      const { mode, size } = await file.stat()
      if (world.userId !== undefined && (mode & 0o007) !== 0)
        throw new Problem(
          'token_file_unsafe',
          `Everyone on this machine can read ${shown}, so its token is not used.`,
          `Run: chmod 600 ${shown}`,
          'If someone may have read it, delete the token on the Connectors page and make another.',
        )
      if (world.userId !== undefined && (mode & 0o070) !== 0)
        remark(`The group of ${shown} can read the token: chmod 600 ${shown}`)
      if (size > TOKEN_BYTES_MAX)
        throw new Problem('token_file_unreadable', `${shown} is too large for a join token.`)
      return (await file.readFile('utf8')).trim()
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof Problem) throw error
    const { code = '' } = error as NodeJS.ErrnoException
    throw new Problem('token_file_unreadable', `${shown} cannot be read (${code}).`)
  }
}

function checked(token: string, from: string): string {
  if (token !== '' && /^[\x21-\x7e]{1,512}$/.test(token)) return token
  throw new Problem(
    'token_malformed',
    `${from} does not hold a join token.`,
    'Copy it again, without quotes or line breaks. It begins with sct_.',
  )
}
