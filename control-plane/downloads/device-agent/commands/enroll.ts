/** Enrolls once: a key is made here, in the TPM where that works, and its public half is known to the service from then on. */
import { randomBytes } from 'node:crypto'
import { LIMITS } from '../../../../shared/limits.ts'
import { VERSION } from '../../../../shared/version.ts'
import { ask } from '../../command-line/prompt.ts'
import { plainText } from '../../command-line/words.ts'
import { readBaseUrl } from '../../command-line/base-url.ts'
import { EXIT, Problem } from '../../command-line/exit.ts'
import { makeKey, openKey } from '../key/device-key.ts'
import { KeyLost } from '../key/open-key.ts'
import { createSystemctl } from '../../resident/systemctl.ts'
import { stateFolder } from '../places.ts'
import { install, isInstalled } from '../systemd/installation.ts'
import { machineHash } from '../machine-hash.ts'
import { createAgentService } from '../service/agent-service.ts'
import type { Device } from '../state/device-state.ts'
import { newestOf, updatesFolder } from '../state/running-state.ts'
import type { Command, ProgramWorld, Task } from './command.ts'

export const enroll: Command = {
  name: 'enroll',
  summary: 'Enrolls this device with a ticket.',
  about:
    'The ticket is asked for, or read from standard input; never from the command line. The key that is made here stays on this machine, in its TPM where that works.',
  options: ['again'],
  actions: [],
  async run(task) {
    const { given, world, state, proxies, print, remark } = task
    const base = readBaseUrl(world.environment)
    const service = createAgentService({ baseUrl: base.text, proxies })
    const before = await state.read()
    if (before !== null && !given.values.has('again') && (await works(before, world))) {
      print(`This is ${before.device_id} of ${before.tenant_id} already. The ticket was not used.`)
      return EXIT.done
    }
    if (base.isOpen) remark(`${base.text} is not encrypted, so the ticket could be intercepted.`)
    const ticket = await readTicket(world)

    // On the disk before it is told: who asks again with it is the same device.
    const kept = await state.readEnrolling()
    const made = kept === null ? await makeKey(world.tpm) : { key: kept.key, why: '' }
    if (kept === null) await state.writeEnrolling({ version: 1, key: made.key })
    const key = openKey(made.key, world.tpm)
    const wish = {
      platform: world.platform === 'win32' ? ('windows' as const) : ('linux' as const),
      arch: world.arch,
      hostname: plainText(world.hostName).slice(0, LIMITS.deviceHostnameCharactersMax) || 'device',
      agent: VERSION,
      key_storage: key.storage,
      machine_hash: await machineHash({ ...world, tool: world.tpm.tool }),
      rid: randomBytes(16).toString('base64url'),
    }
    const answer = await service.enrol(ticket, wish, key).catch(async (error: unknown) => {
      await giveUp(error, before, state)
      throw error
    })
    const { device_id, tenant_id, origin, confirm, challenge_jwks, poll_s, next } = answer
    await updatesFolder(world, state).writeUpdates({ version: 1, keys: challenge_jwks })
    await state.write({
      version: 1,
      base_url: service.baseUrl,
      ...{ device_id, tenant_id, origin, confirm, challenge_jwks, poll_s },
      key: made.key,
      link: { prev: next, ctr: 0, boot_id: null, is_sent: false, is_lost: false },
      state: 'fine',
      posture_hash: null,
      checked_in_at: null,
      update: null,
    })
    await state.endEnrolling()
    print(`Enrolled as ${device_id} of ${tenant_id}. The key is in ${STORAGES[key.storage]}.`)
    if (made.why !== '') remark(`The TPM is not used: ${made.why}.`)
    if (answer.state === 'pending') remark('An administrator has to approve this device first.')
    await tellServices(task)
    return EXIT.done
  },
}

/** What runs goes on with the device before, and may not even reach the place of the new key. */
async function tellServices({ world, state, print }: Task): Promise<void> {
  const { platform, userId, root } = world
  const isOfMachine = platform === 'linux' && userId === 0 && state.path === stateFolder(world)
  if (!isOfMachine || !(await isInstalled(root))) return
  const systemctl = createSystemctl('service-device-agent')
  await install({ root, platform, userId, systemctl }, { state, ...world })
  print('The services of the agent have started again with it.')
}

/** What was refused will not be answered later: nothing of it is kept. */
async function giveUp(error: unknown, before: Device | null, state: Task['state']): Promise<void> {
  if (!(error instanceof Problem) || error.code !== 'ticket_refused') return
  await state.endEnrolling()
  if (before === null) await state.remove()
}

const STORAGES = { tpm: 'the TPM', file: 'a file that only its owner can read' } as const

/** One that does not work any more is replaced without a further word. */
async function works(before: Device, { userId, root, tpm }: ProgramWorld): Promise<boolean> {
  const { state, key } = await newestOf(before, userId, root)
  if (state !== 'fine') return false
  try {
    await openKey(key, tpm).sign(Buffer.from('a look at the key'))
    return true
  } catch (error) {
    return !(error instanceof KeyLost)
  }
}

const TICKET_BYTES_MAX = 1024

async function readTicket({ stdin, stderr }: ProgramWorld): Promise<string> {
  const isAsked = stdin.isTTY === true && stderr.isTTY === true
  const ticket = isAsked ? await ask(stdin, stderr, 'Ticket (hidden): ', true) : await allOf(stdin)
  if (ticket.trim() === '')
    throw new Problem(
      'ticket_missing',
      'A ticket is needed to enroll this device.',
      'Get one from the Devices page of your tenant, and give it on standard input.',
    )
  if (/^[\x21-\x7e]{1,512}$/.test(ticket.trim())) return ticket.trim()
  throw new Problem(
    'ticket_malformed',
    'That is not a ticket.',
    'Copy it again, without quotes or line breaks.',
  )
}

async function allOf(stdin: NodeJS.ReadStream): Promise<string> {
  let text = ''
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    text += chunk.toString()
    if (text.length > TICKET_BYTES_MAX) break
  }
  return text
}
