import t from 'tap'
import { WebSocket } from 'ws'
import { PASSWORD, startTenant } from '../../support/application.ts'
import type { Browser } from '../../support/browser.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'
import { startWebSocketApplication } from '../../support/websockets.ts'

interface Opened {
  readonly socket: WebSocket
  readonly closed: Promise<{ code: number; reason: string; atMs: number }>
}

async function openAs(browser: Browser, url: string, host: string): Promise<Opened> {
  const names = ['service_session', 'service_seen']
  const cookie = names.map((name) => `${name}=${browser.cookie(host, name)}`).join('; ')
  const target = new URL(url)
  const socket = new WebSocket(`ws://127.0.0.1:${target.port}/live`, {
    headers: { host: target.host, cookie, origin: target.origin, 'user-agent': browser.userAgent },
  })
  t.teardown(() => socket.terminate())
  const closed = new Promise<Awaited<Opened['closed']>>((resolve) =>
    socket.on('close', (code, reason) =>
      resolve({ code, reason: reason.toString(), atMs: performance.now() }),
    ),
  )
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return { socket, closed }
}

t.test('a revocation closes the WebSockets of a session at every gateway', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startWebSocketApplication(t)
  const tenant = await startTenant(fleet, 'live', application.url)
  for (const kind of ['sid', 'subject', 'all'] as const) {
    const ada = fleet.browser()
    await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD)
    const me = await ada.fetch(`${tenant.edge()}/service/me`)
    const { sid, user_id: subject } = JSON.parse(me.text) as { sid: string; user_id: string }
    const opened = await Promise.all(
      [0, 0, 0, 1, 1, 1].map((gateway) => openAs(ada, tenant.edge(gateway), tenant.host)),
    )
    t.equal(application.opened.at(-1)?.headers['x-service-user'], tenant.ada)
    const body = kind === 'all' ? { all: true } : kind === 'sid' ? { sid } : { subject }
    const { status } = await fleet.operator('POST', '/tenants/live/revocations', body)
    const answeredMs = performance.now()
    t.equal(status, 200)
    let tookMs = 0
    for (const { closed } of opened) {
      const { code, reason, atMs } = await closed
      t.same({ code, reason }, { code: 1008, reason: 'session ended' })
      tookMs = Math.max(tookMs, atMs - answeredMs)
    }
    t.comment(`${kind}: the last of six closed ${Math.round(tookMs)} ms after the answer`)
  }
})

t.test('signing out, or a gateway that stops, closes WebSockets', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startWebSocketApplication(t)
  const tenant = await startTenant(fleet, 'leaving', application.url)
  const ada = fleet.browser()
  const openBoth = async () => {
    await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD)
    return Promise.all([0, 1].map((gateway) => openAs(ada, tenant.edge(gateway), tenant.host)))
  }
  const opened = await openBoth()
  const headers = { origin: tenant.edge(), 'sec-fetch-site': 'same-origin' }
  await ada.fetch(`${tenant.edge()}/service/logout`, { method: 'POST', headers })
  for (const { closed } of opened) t.match(await closed, { code: 1008, reason: 'session ended' })

  const [leaving, staying] = await openBoth()
  const stopping = fleet.gateways[0]!.stop()
  t.match(await leaving!.closed, { code: 1001, reason: 'going away' })
  t.equal(await stopping, 0)
  staying!.socket.send('still here')
  const back = await new Promise((resolve) => staying!.socket.once('message', resolve))
  t.equal(String(back), 'still here', 'the other gateway goes on')
  await openAs(ada, tenant.edge(1), tenant.host)
})
