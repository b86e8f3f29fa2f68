/** Whether the application answers on this machine's side. */
import type { Target } from '../../resident/proxies.ts'
import { applicationAddress } from '../tunnel/splice.ts'
import { failed, found, type Fault, type Finding } from './finding.ts'
import { speakHttp, type HttpAnswer } from './http.ts'
import { reach } from './reach.ts'
import { distrustFault, speakTls } from './tls.ts'

interface Looking {
  readonly origin: string
  /** Its own authorities. */
  readonly ca: string | undefined
  readonly nowMs: () => number
  readonly signal: AbortSignal
}

export async function lookAtApplication(looking: Looking): Promise<Finding> {
  const about = { subject: 'application', name: `application ${looking.origin}` } as const
  const answer = await answerOf(looking)
  if ('cause' in answer) return failed(about, answer)
  if (answer.status === 101)
    return failed(about, {
      cause: 'answer',
      detail: 'It answers an ordinary request with 101, and goes on in another protocol.',
      advice:
        'Check that --origin names the port of the application itself, and not one for WebSockets alone.',
    })
  return found(about, `It answers: status ${answer.status}.`)
}

/** No proxy has a part in it, as none has when the connector runs. */
async function answerOf({ origin, ca, nowMs, signal }: Looking): Promise<HttpAnswer | Fault> {
  const to: Target = applicationAddress(origin)
  const { host: authority } = new URL(origin)
  const reached = await reach(to, () => undefined, signal)
  if ('cause' in reached) return { ...reached, advice: adviceFor(reached, authority) }
  let { socket } = reached
  if (to.isSecure) {
    const spoken = await speakTls(
      socket,
      authority,
      { host: to.host, ...(ca !== undefined && { ca }) },
      signal,
    )
    if ('cause' in spoken) return spoken
    const fault = distrustFault(spoken, authority, nowMs())
    if (fault !== undefined) {
      spoken.socket.destroy()
      return {
        ...fault,
        cause: 'certificate',
        ...(fault.cause === 'interception' && {
          detail: `The certificate of ${authority} was issued by ${spoken.issuer}, which ${ca === undefined ? 'this machine does not trust' : 'is not the CA that this connector joined with'} (${spoken.distrust}).`,
        }),
        advice: ca === undefined ? UNTRUSTED : OTHER_CA,
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

const ANEW = 'leave, and join again with'
const UNTRUSTED = `Requests are not passed on to it. If it is from a CA of your own, ${ANEW} --origin-ca FILE; if the application listens on this machine, ${ANEW} http:// will do as well.`
const OTHER_CA = `Requests are not passed on to it. If the CA has changed, ${ANEW} the file of the new one: --origin-ca FILE`

function adviceFor({ cause, detail }: Fault, authority: string): string {
  if (cause === 'name')
    return 'Check the host in --origin: to change it, leave and join again with another one.'
  return detail.includes('ECONNREFUSED')
    ? `Start the application, or check that it listens on ${authority}: to change the address, leave and join again.`
    : `Check that ${authority} can be reached from this machine.`
}
