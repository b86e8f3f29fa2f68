/** A code for browsers that cannot reach the agent. The running agent asks for it: it alone has the key. */
import * as v from 'valibot'
import { plainText } from '../../command-line/words.ts'
import { exchangeBytes, ExchangeError, jsonOf } from '../../resident/exchange.ts'
import { EXIT, Problem } from '../../command-line/exit.ts'
import { LOOPBACK } from '../../resident/loopback.ts'
import { portIn } from '../arguments.ts'
import { CODE_REQUEST } from '../proof/judge-request.ts'
import type { Command } from './command.ts'

const Answer = v.union([
  v.object({ code: v.string(), expires_s: v.number() }),
  v.object({ error: v.string() }),
])

export const code: Command = {
  name: 'code',
  summary: 'Shows a code to type at sign-in, if the browser cannot reach the agent.',
  about:
    'Needs no administrator rights. The code works once, for a minute, and only if the device policy of your tenant allows it.',
  options: ['port'],
  actions: [],
  async run({ given, print, remark }) {
    const answer = await ask(portIn(given.values.get('port')))
    if (!('code' in answer))
      throw new Problem('no_code', ...(WHY[answer.error] ?? other(answer.error)))
    print(answer.code)
    remark(
      `Type it at the sign-in within ${answer.expires_s} seconds. Never read it to anyone: whoever has it can sign in as you.`,
    )
    return EXIT.done
  },
}

async function ask(port: number): Promise<v.InferOutput<typeof Answer>> {
  const { path, header, value } = CODE_REQUEST
  const url = new URL(`http://${LOOPBACK}:${port}${path}`)
  const headers = { accept: 'application/json', [header]: value }
  const asked = { url, method: 'GET', text: '', headers, proxies: () => undefined } as const
  const answer = await exchangeBytes(asked).catch((error: unknown) => {
    if (error instanceof ExchangeError) throw notRunning(port)
    throw error
  })
  const read = v.safeParse(Answer, jsonOf(answer.bytes))
  if (!read.success) throw notRunning(port)
  return read.output
}

const notRunning = (port: number) =>
  new Problem(
    'agent_not_running',
    `No agent answers on ${LOOPBACK}:${port}.`,
    'An administrator can see why: service-device-agent status',
  )

const WHY: Readonly<Record<string, readonly string[]>> = {
  device_code_off: [
    'Your tenant does not accept codes.',
    'Check this device from the sign-in page instead, or ask an administrator.',
  ],
  device_refused: ['This device is no longer enrolled. Ask for a new install link.'],
  device_suspect_clone: ['This device may have been copied: an administrator can clear that.'],
  device_key_lost: ['The TPM has lost the key of this device: enroll it again with a new ticket.'],
  unreachable: ['The agent could not reach the service.', 'Check the network and try again.'],
}

const other = (error: string) => [`The service refused: ${plainText(error).slice(0, 60)}.`]
