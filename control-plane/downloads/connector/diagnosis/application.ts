/** Whether the application answers on this machine's side. */
import type { Target } from '../../resident/proxies.ts'
import { applicationAddress } from '../tunnel/splice.ts'
import { failed, found, type Fault, type Finding } from './finding.ts'
import { speakHttp, type HttpAnswer } from './http.ts'
import { reach } from './reach.ts'
import { distrustFault, speakTls } from './tls.ts'

interface Looking {
  readonly origin: string
  readonly nowMs: () => number
  readonly signal: AbortSignal
}

export async function lookAtApplication(looking: Looking): Promise<Finding> {
  const about = { subject: 'application', name: `application ${looking.origin}` } as const
  const answer = await answerOf(looking)
  if ('cause' in answer) return failed(about, answer)
  return found(about, `It answers: status ${answer.status}.`)
}

/** No proxy has a part in it, as none has when the connector runs. */
async function answerOf({ origin, nowMs, signal }: Looking): Promise<HttpAnswer | Fault> {
  const to: Target = applicationAddress(origin)
  const { host: authority } = new URL(origin)
  const reached = await reach(to, () => undefined, signal)
  if ('cause' in reached) return { ...reached, advice: adviceFor(reached, authority) }
  let { socket } = reached
  if (to.isSecure) {
    const spoken = await speakTls(socket, authority, { host: to.host }, signal)
    if ('cause' in spoken) return spoken
    const fault = distrustFault(spoken, authority, nowMs())
    if (fault !== undefined) {
      spoken.socket.destroy()
      return {
        ...fault,
        cause: 'certificate',
        advice: `The connector does not pass on to a certificate that is not trusted: export NODE_EXTRA_CA_CERTS=/path/to/ca.pem, or join with http:// if it listens on this machine.`,
      }
    }
    socket = spoken.socket
  }
  const headers = { host: authority, connection: 'close' }
  const answer = await speakHttp(socket, { method: 'GET', path: '/', headers }, signal)
  return (
    answer ?? {
      cause: 'answer',
      detail: `${authority} takes connections and does not answer a request in time.`,
      advice: 'Check that the application is well, and that it speaks HTTP on this port.',
    }
  )
}

function adviceFor({ cause, detail }: Fault, authority: string): string {
  if (cause === 'name')
    return 'Check the host in --origin: to change it, leave and join again with another one.'
  return detail.includes('ECONNREFUSED')
    ? `Start the application, or check that it listens on ${authority}: to change the address, leave and join again.`
    : `Check that ${authority} can be reached from this machine.`
}
