import t from 'tap'
import { takeBack } from '../../../gateway/request.ts'
import { RequestContext } from '../../../gateway/request/context.ts'
import { createOpenStreams, SWEEP_MS } from '../../../gateway/session/open-streams.ts'
import { until } from '../../support/fleet.ts'
import { clockOf } from '../../support/clocks.ts'

t.test('what is revoked of one tenant has nothing of the others looked at', async (t) => {
  const { setInterval } = globalThis
  t.teardown(() => void (globalThis.setInterval = setInterval))
  globalThis.setInterval = ((run: () => void, ms: number) =>
    setInterval(run, ms === SWEEP_MS ? 2 ** 30 : ms)) as typeof setInterval
  const ended: string[] = []
  const openOf = (tenantId: string) => {
    const context = Object.create(RequestContext.prototype) as RequestContext
    const exchange = { context, head: { host: tenantId }, recall: () => void ended.push(tenantId) }
    Object.assign(context, { exchange, decision: 'forward', tenant: { tenantId } })
    return { exchange, activeMs: 0, cut: () => void ended.push(`the WebSocket of ${tenantId}`) }
  }
  const all = ['acme', 'beta', 'gamma'].map(openOf)
  const looked: string[] = []
  const streams = createOpenStreams({
    clock: clockOf(() => 0),
    byHost(host) {
      looked.push(host)
      return { kind: 'unknown' }
    },
    webSockets: () => all as never,
    eachInFlight: (visit) => all.forEach(({ exchange }) => visit(exchange as never)),
    takeBack,
    reportActivity: () => undefined,
    onError: (error) => t.error(error),
  })
  t.teardown(() => streams.close())
  for (const tenantId of ['acme', 'gamma', 'acme']) streams.judgeSoon(tenantId)
  await until(() => ended.length >= 4)
  t.same(ended, ['the WebSocket of acme', 'the WebSocket of gamma', 'acme', 'gamma'])
  t.same([...new Set(looked)], ['acme', 'gamma'])
  streams.judge()
  t.ok(ended.includes('beta'), 'a sweep looks at all')
})
