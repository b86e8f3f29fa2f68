/** `diag` names the part that is at fault, and it is broken part by part here. */
import { chmodSync } from 'node:fs'
import { createServer as createTcp, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createHttps } from 'node:https'
import { createServer as createTls } from 'node:tls'
import t, { type Test } from 'tap'
import { connectorHere } from '../../../../support/connector-program.ts'
import type { GatewayAddress } from '../../../../../control-plane/downloads/connector/tunnel/dial.ts'
import { certificateFor } from '../../../../support/certificate.ts'
import { acme, expired } from '../../../../support/certificates.ts'
import { openDoor } from '../../../../support/dialled-in.ts'
import {
  answering,
  CONNECTOR,
  controlPlaneWith,
  joinedHere,
} from '../../../../support/joined-connector.ts'
import { freePort } from '../../../../support/ports.ts'

interface Shown {
  readonly at_fault: {
    subject: string
    name: string
    cause: string
    detail: string
    advice: string
  }
  readonly findings: readonly { subject: string; result: string; detail: string }[]
}

interface Parts {
  readonly origin?: string
  readonly originCa?: string
  readonly baseUrl?: string
  readonly gateway?: { readonly address: string; readonly certificate: string }
  readonly others?: readonly GatewayAddress[]
  readonly environment?: Record<string, string>
  readonly isKnown?: () => boolean
  readonly date?: string
}

/** All is well but what is wished otherwise. */
async function connectorWith(t: Test, parts: Parts = {}) {
  const door = await openDoor(t)
  const application = await answering(t, (_request, response) => response.end('ok'))
  let document = ''
  const say = controlPlaneWith(() => document, parts.isKnown)
  const controlPlane = await answering(t, (request, response) => {
    if (parts.date !== undefined) response.setHeader('date', parts.date)
    say(request, response)
  })
  const { address, certificate } = parts.gateway ?? door
  const connector = await joinedHere(t, {
    origin: parts.origin ?? application.url,
    ...(parts.originCa !== undefined && { originCa: parts.originCa }),
    baseUrl: parts.baseUrl ?? controlPlane.url,
    gateways: [{ gateway_id: 'gateway-1', address, certificate }, ...(parts.others ?? [])],
    environment: { NO_PROXY: '', ...parts.environment },
  })
  document = connector.document
  door.allow({ [CONNECTOR]: connector.keys })
  const diag = async (...args: string[]) => {
    const ended = await connector.call('diag', '--local-port', 'none', ...args)
    t.notOk(`${ended.out}${ended.err}`.includes(connector.privateKey), 'the key is nowhere')
    return ended
  }
  return {
    ...connector,
    door,
    diag,
    async shown() {
      const { code, out } = await diag('--json')
      return { code, ...(JSON.parse(out) as Shown) }
    },
  }
}

t.test('nothing is at fault where nothing is', async (t) => {
  const { diag, shown, door } = await connectorWith(t)
  t.match(await diag(), { code: 0, err: '', out: /^ok +state folder.*\nNothing is at fault\.\n$/s })
  const { code, at_fault: fault, findings } = await shown()
  t.match({ code, fault }, { code: 0, fault: null })
  t.strictSame(
    findings.map(({ subject, result }) => `${subject} ${result}`),
    [
      'state ok',
      'control_plane ok',
      'clock ok',
      'identity ok',
      'gateway ok',
      'application ok',
      'running skipped',
    ],
  )
  t.strictSame([...door.connectors.present()], [], 'it has taken no request')
})

t.test('the state folder', async (t) => {
  const { folder, shown } = await connectorWith(t)
  chmodSync(folder, 0o755)
  t.match(await shown(), {
    code: 1,
    at_fault: { subject: 'state', cause: 'folder', advice: /chmod 700/ },
  })

  const program = connectorHere(t, {})
  const nobody = await program.call(['diag', '--json', '--state', join(program.home, 'none')])
  t.match(nobody, { code: 1, err: '' })
  t.match(JSON.parse(nobody.out), {
    at_fault: { subject: 'state', cause: 'not_joined', advice: /service-connector join/ },
    findings: [{ result: 'failed' }, { subject: 'control_plane', result: 'skipped' }],
  })
})

t.test('the control plane: name, port, answer', async (t) => {
  const closed = await freePort()
  const cases = [
    ['http://no-such-host.invalid', { cause: 'name', detail: /does not resolve/ }],
    [
      `http://127.0.0.1:${closed}`,
      { cause: 'port', detail: /ECONNREFUSED/, advice: /nothing lis/ },
    ],
  ] as const
  for (const [baseUrl, expected] of cases) {
    const { shown } = await connectorWith(t, { baseUrl })
    const { code, at_fault: fault, findings } = await shown()
    t.match({ code, fault }, { code: 1, fault: { subject: 'control_plane', ...expected } })
    t.match(findings.find(({ subject }) => subject === 'identity')?.result, 'skipped')
    t.match(findings.find(({ subject }) => subject === 'gateway')?.result, 'ok', 'as it is kept')
  }
  const portal = await answering(t, (_request, response) => response.end('<html>Sign in</html>'))
  const { diag, shown } = await connectorWith(t, { baseUrl: portal.url })
  t.match(await shown(), { at_fault: { subject: 'control_plane', cause: 'answer' } })
  t.match(await diag(), { out: /At fault: control plane.*Requests go on meanwhile/s })
})

/** Takes connections, and nothing of what comes is ever answered. */
async function tcp(t: Test, onSocket: (socket: Socket) => void): Promise<number> {
  const server = createTcp((socket) => {
    socket.on('error', () => undefined)
    t.teardown(() => socket.destroy())
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

async function tls(t: Test, own: typeof acme): Promise<number> {
  const { certificatePem: cert, privateKeyPem: key } = own
  const server = createTls({ cert, key, ALPNProtocols: ['service-connector/1'] })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

t.test('TLS that somebody opens on the way', async (t) => {
  const port = await tls(t, acme)
  const { door } = await connectorWith(t)

  const opened = await connectorWith(t, { baseUrl: `https://127.0.0.1:${port}` })
  t.match(await opened.shown(), {
    at_fault: {
      subject: 'control_plane',
      cause: 'interception',
      detail: /issued by Test CA, which this machine does not trust/,
      advice: /NODE_EXTRA_CA_CERTS/,
    },
  })
  const gateway = { address: `127.0.0.1:${port}`, certificate: door.certificate }
  const { shown } = await connectorWith(t, { gateway })
  t.match(await shown(), {
    code: 1,
    at_fault: {
      subject: 'gateway',
      cause: 'interception',
      detail: /is not gateway-1: it has another certificate, issued by Test CA/,
      advice: /Your own CA does not help/,
    },
  })
})

t.test('a certificate that is over, or seems so by this clock', async (t) => {
  const { certificatePem: cert, privateKeyPem: key } = expired
  let date = new Date().toUTCString()
  const server = createHttps({ cert, key }, (_request, response) => {
    response.setHeader('date', date)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { shown, diag } = await connectorWith(t, { baseUrl })
  t.match(await shown(), {
    at_fault: {
      subject: 'control_plane',
      cause: 'certificate',
      detail: /valid from .* to .*clock of this machine says/,
    },
  })
  for (date of ['Mon, 01 Jun 2020 00:00:00 GMT', 'Thu, 01 Jan 2099 00:00:00 GMT']) {
    const { at_fault: fault } = await shown()
    const isClock = date.includes('2020')
    t.equal(fault.cause, isClock ? 'clock' : 'certificate', date)
    if (!isClock) continue
    t.match(fault, { subject: 'clock', detail: /^It is \d+ days ahead of 127\.0\.0\.1:/ })
    const { out } = await diag()
    t.match(out, /At fault: clock of this machine.*timedatectl.*Requests go on meanwhile/s)
    t.match(out, /skipped control plane .*: The clock has to be right first\./)
  }
})

t.test('a proxy that wants a password, or does not allow it', async (t) => {
  for (const [status, advice] of [
    [407, /HTTPS_PROXY=http:\/\/username/],
    [403, /allow CONNECT to 127\.0\.0\.1:\d+/],
  ] as const) {
    const proxy = await tcp(t, (socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`))
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${proxy}` }
    const { shown } = await connectorWith(t, { environment })
    t.match(await shown(), { code: 1, at_fault: { subject: 'gateway', cause: 'proxy', advice } })
  }
})

t.test('a gateway that is not there, or speaks no TLS', async (t) => {
  const { door } = await connectorWith(t)
  const { certificate } = door
  const closed = { address: `127.0.0.1:${await freePort()}`, certificate }
  const refused = await connectorWith(t, { gateway: closed })
  t.match(await refused.shown(), { at_fault: { subject: 'gateway', cause: 'port' } })
  const plain = await tcp(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const spoken = await connectorWith(t, { gateway: { address: `127.0.0.1:${plain}`, certificate } })
  t.match(await spoken.shown(), { at_fault: { subject: 'gateway', cause: 'tls' } })
})

t.test('what stops requests comes before what does not', async (t) => {
  const closed = `127.0.0.1:${await freePort()}`
  const { door } = await connectorWith(t)
  const other = { gateway_id: 'gateway-2', address: closed, certificate: door.certificate }
  const spared = await connectorWith(t, { others: [other] })
  t.match(await spared.shown(), { at_fault: { subject: 'gateway', name: /gateway-2/ } })
  t.match(await spared.diag(), { code: 1, out: /At fault: gateway-2.*Requests go on meanwhile/s })
  const parts = { others: [other], baseUrl: `http://${closed}`, origin: `http://${closed}` }
  const { shown, diag } = await connectorWith(t, parts)
  t.match(await shown(), { code: 1, at_fault: { subject: 'application', cause: 'port' } })
  t.notMatch((await diag()).out, 'Requests go on')
  const all = { ...parts, others: [], gateway: other }
  const nothing = await connectorWith(t, all)
  t.match(await nothing.shown(), { at_fault: { subject: 'control_plane', cause: 'port' } })
})

t.test('a connector that was revoked', async (t) => {
  const { shown } = await connectorWith(t, { isKnown: () => false })
  t.match(await shown(), {
    code: 1,
    at_fault: { subject: 'identity', cause: 'refused', advice: /leave, then join/ },
  })
})

t.test('a clock that is wrong is told, and is no fault', async (t) => {
  const date = new Date(Date.now() - 3 * 3600_000).toUTCString()
  const { shown } = await connectorWith(t, { date })
  const { code, at_fault: fault, findings } = await shown()
  t.match({ code, fault }, { code: 0, fault: null })
  t.match(findings[2], { subject: 'clock', result: 'note', detail: /3 h ahead.*does not depend/ })
})

t.test('the application', async (t) => {
  const dumb = await tcp(t, (socket) => socket.end('what?\r\n'))
  const port = await tls(t, acme)
  const cases = [
    [`http://127.0.0.1:${await freePort()}`, { cause: 'port', advice: /Start the application/ }],
    ['http://no-such-host.invalid:3000', { cause: 'name', advice: /--origin/ }],
    [`http://127.0.0.1:${dumb}`, { cause: 'answer', advice: /speaks HTTP/ }],
    [`https://127.0.0.1:${port}`, { cause: 'certificate', advice: /--origin-ca FILE; if/ }],
  ] as const
  for (const [origin, expected] of cases) {
    const { shown } = await connectorWith(t, { origin })
    t.match(await shown(), { code: 1, at_fault: { subject: 'application', ...expected } }, origin)
  }
})

t.test('the application, by an authority of its own', async (t) => {
  const [own, other] = [certificateFor('localhost'), certificateFor('localhost')]
  const application = createHttps(own, (_request, response) => response.end('ok'))
  await new Promise<void>((resolve) => application.listen(0, 'localhost', resolve))
  t.teardown(() => application.close())
  const origin = `https://localhost:${(application.address() as AddressInfo).port}`
  const trusting = await connectorWith(t, { origin, originCa: own.cert })
  t.match(await trusting.shown(), { code: 0 })
  const { shown } = await connectorWith(t, { origin, originCa: other.cert })
  t.match(await shown(), {
    code: 1,
    at_fault: {
      cause: 'certificate',
      detail: /is not the CA/,
      advice: /new one: --origin-ca FILE/,
    },
  })
})
