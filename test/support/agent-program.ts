/** The device agent as a machine gets it: by its install link, checked as the script checks it, and run. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fleet } from './programs.ts'

interface Wanted {
  readonly tenantId: string
  /** Words before the command: on which machine it runs, or in which time. */
  readonly before?: readonly string[]
}

export async function installAgent(
  t: { after(work: () => Promise<void>): void },
  fleet: Pick<Fleet, 'baseUrl' | 'operator'>,
  { tenantId, before = [] }: Wanted,
) {
  const folder = mkdtempSync(join(tmpdir(), 'device-'))
  const running = new Set<() => Promise<unknown>>()
  t.after(async () => {
    await Promise.all([...running].map((end) => end()))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const made = await fleet.operator('POST', `/tenants/${tenantId}/device-tickets`, {
    platform: 'linux',
  })
  const asked = await fetch(`${fleet.baseUrl}/install/linux?ticket=${String(made.body['ticket'])}`)
  const script = await asked.text()
  const valueOf = (name: string) => new RegExp(`^${name}='(.*)'$`, 'm').exec(script)?.[1] ?? ''
  const file = join(folder, 'agent.mjs')
  const fetched = await fetch(`${valueOf('base_url')}/install/agent/agent.mjs`)
  const program = Buffer.from(await fetched.arrayBuffer())
  const sha256 = createHash('sha256').update(program).digest('hex')
  if (sha256 !== valueOf('agent_sha256')) throw new Error('not the program of the script')
  writeFileSync(file, program)

  const state = ['--state', join(folder, 'state')]
  const facts = join(folder, 'facts/facts.json')
  function begin(args: readonly string[], input = '') {
    const [command = '', ...words] = [...before, process.execPath, file, ...args, ...state]
    const env = { ...process.env, SERVICE_BASE_URL: fleet.baseUrl }
    const child = spawn(command, words, { env })
    let said = ''
    const watchers = new Set<() => void>()
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString()
        watchers.forEach((look) => look())
      })
    child.stdin.end(input)
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    const end = () => {
      if (child.exitCode === null) child.kill()
      return ended
    }
    running.add(end)
    return {
      end,
      said: () => said,
      ended,
      /** Settles once this stands in what it says. */
      heard: (text: string) =>
        new Promise<void>((resolve, reject) => {
          const look = () => said.includes(text) && resolve()
          watchers.add(look)
          look()
          void ended.then(() => reject(new Error(`${text} was never said: ${said}`)))
        }),
    }
  }
  async function call(args: readonly string[], input?: string): Promise<string> {
    const called = begin(args, input)
    const code = await called.ended
    if (code === 0) return called.said()
    throw new Error(`${args.join(' ')} ended with ${code}: ${called.said()}`)
  }
  const enrolled = await call(['enroll'], `${valueOf('ticket')}\n`)
  return {
    deviceId: /dev_[0-9a-f]{16}/.exec(enrolled)?.[0] ?? '',
    facts,
    call,
    collect: () => call(['collect', '--facts', facts]),
    /** Where it listens, or says why it does not. */
    async run(heard = 'sign-ins can be answered') {
      const listener = begin(['run', '--facts', facts])
      await listener.heard(heard)
      return listener
    },
  }
}
