/** Whether the control plane answers from here; and what its clock says beside ours. */
import { connectStraight, proxyCredentials } from '../../resident/connect.ts'
import type { Proxies, Target } from '../../resident/proxies.ts'
import { failed, found, noted, skipped, type Fault, type Finding } from './finding.ts'
import { speakHttp, type HttpAnswer } from './http.ts'
import { hostOf, reach, unresolved } from './reach.ts'
import { distrustFault, isOfTime, speakTls, type Spoken } from './tls.ts'

interface Asking {
  readonly baseUrl: string
  /** Anybody may ask for a challenge; for whom makes no difference. */
  readonly connectorId: string
  readonly proxies: Proxies
  readonly nowMs: () => number
  readonly signal: AbortSignal
}

/** The control plane; and the clock, where it has told the time. */
export async function lookAtControlPlane(asking: Asking): Promise<Finding[]> {
  const { baseUrl, nowMs } = asking
  const about = { subject: 'control_plane', name: `control plane ${baseUrl}` } as const
  const answer = await answerOf(asking)
  if ('cause' in answer && answer.cause === 'clock')
    return [skipped(about, 'The clock has to be right first.'), failed(CLOCK, answer)]
  if ('cause' in answer) return [failed(about, answer)]
  const clock = clockFinding(answer.headers.date, nowMs())
  const fault = answerFault(baseUrl, answer)
  return [fault === undefined ? found(about, 'It answers.') : failed(about, fault), ...clock]
}

async function answerOf(asking: Asking): Promise<HttpAnswer | Fault> {
  const { baseUrl, connectorId, proxies, nowMs, signal } = asking
  const url = new URL(`${baseUrl}/api/v1/connector/challenge`)
  const isSecure = url.protocol === 'https:'
  const to: Target = {
    isSecure,
    host: hostOf(url),
    port: Number(url.port) || (isSecure ? 443 : 80),
  }
  const body = JSON.stringify({ connector_id: connectorId })
  const headers = {
    host: url.host,
    accept: 'application/json',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const proxy = isSecure ? undefined : proxies(to)
  if (proxy !== undefined) return throughPlainProxy(proxy, { url, headers, body, signal })
  const reached = await reach(to, proxies, signal)
  if ('cause' in reached) return reached
  let { socket } = reached
  if (isSecure) {
    const spoken = await speakTls(socket, url.host, { host: to.host }, signal)
    if ('cause' in spoken) return spoken
    const fault = distrustFault(spoken, url.host, nowMs())
    if (fault !== undefined) return (await clockFault(spoken, { url, nowMs, signal })) ?? fault
    socket = spoken.socket
  }
  const wish = { method: 'POST', path: url.pathname, headers, body } as const
  return (await speakHttp(socket, wish, signal)) ?? noAnswer(url.host)
}

interface Untimely {
  readonly url: URL
  readonly nowMs: () => number
  readonly signal: AbortSignal
}

/**
 * A certificate that is over, or not yet valid, by this clock: the other end is asked for its own. Whoever
 * that is, it is told nothing, and what it says is believed no further than as a hint.
 */
async function clockFault(
  { socket, distrust, validFrom, validTo }: Spoken,
  { url, nowMs, signal }: Untimely,
): Promise<Fault | undefined> {
  if (!isOfTime(distrust)) return void socket.destroy()
  const headers = { host: url.host, connection: 'close' }
  const answer = await speakHttp(socket, { method: 'HEAD', path: '/', headers }, signal)
  const theirs = Date.parse(answer?.headers.date ?? '')
  // By their time it would be good: then one of the two clocks is wrong, and theirs has a certificate.
  if (!(theirs >= Date.parse(validFrom) && theirs <= Date.parse(validTo))) return undefined
  return {
    cause: 'clock',
    detail: `It is ${aside(nowMs() - theirs)} ${url.host}, so the certificate there, valid from ${validFrom} to ${validTo}, seems invalid.`,
    advice: 'Set it, or have it set: timedatectl set-ntp true',
  }
}

interface PlainAsking {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
}

/** Without TLS a proxy is given the whole address. */
async function throughPlainProxy(
  proxy: URL,
  { url, headers, body, signal }: PlainAsking,
): Promise<HttpAnswer | Fault> {
  const name = await unresolved(hostOf(proxy), proxy, signal)
  if (name !== undefined) return name
  const advice = 'Check HTTP_PROXY, or name the host in NO_PROXY where no proxy is needed.'
  try {
    const socket = await connectStraight(
      { host: hostOf(proxy), port: Number(proxy.port) || 80 },
      signal,
    )
    const answer = await speakHttp(
      socket,
      { method: 'POST', path: url.href, headers: { ...headers, ...proxyCredentials(proxy) }, body },
      signal,
    )
    if (answer?.status !== 407) return answer ?? noAnswer(`the proxy ${proxy.host}`)
    return { cause: 'proxy', detail: `The proxy ${proxy.host} answered 407.`, advice }
  } catch (error) {
    return { cause: 'proxy', detail: `The proxy: ${(error as Error).message}.`, advice }
  }
}

const noAnswer = (host: string): Fault => ({
  cause: 'answer',
  detail: `${host} takes the connection and does not answer.`,
  advice: 'Check that the address is that of the service, and that the service runs.',
})

function answerFault(baseUrl: string, { status, text }: HttpAnswer): Fault | undefined {
  if (status === 200 && /"challenge"\s*:/.test(text)) return undefined
  return {
    cause: 'answer',
    detail: `What answers at ${baseUrl} is not the service, or not well: status ${status}.`,
    advice:
      status === 403 || status === 407
        ? 'A proxy may answer in its place: have it allow this address.'
        : status >= 500 || status === 429
          ? 'Try again later; the operator sees more in the log of the control plane.'
          : 'Check the address, and whether a proxy or a login page answers in its place: SERVICE_BASE_URL.',
  }
}

/** What nobody would look for: certificates fail long before this is a trouble of ours. */
const SKEW_MS_NOTED = 60_000

const CLOCK = { subject: 'clock', name: 'clock of this machine' } as const

/** No decision depends on it; logs and certificates do. */
function clockFinding(date: string | undefined, nowMs: number): Finding[] {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs)) return []
  const skewMs = nowMs - theirs
  if (Math.abs(skewMs) < SKEW_MS_NOTED) return [found(CLOCK, 'It agrees with the control plane.')]
  return [
    noted(
      CLOCK,
      `It is ${aside(skewMs)} the control plane. The connector does not depend on it, but times in its log are wrong, and TLS certificates of the control plane can seem invalid.`,
    ),
  ]
}

/** As in `3 h ahead of`. */
function aside(skewMs: number): string {
  const minutes = Math.abs(skewMs) / 60_000
  const span =
    minutes < 120
      ? `${Math.round(minutes)} min`
      : minutes < 2880
        ? `${Math.round(minutes / 60)} h`
        : `${Math.round(minutes / 1440)} days`
  return `${span} ${skewMs > 0 ? 'ahead of' : 'behind'}`
}
