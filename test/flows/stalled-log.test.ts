/** Whoever reads the log may stop: requests go on, lines are dropped and counted, none is torn. */
import { connect } from 'node:net'
import t from 'tap'
import { until } from '../support/fleet.ts'
import { startLiveGateway } from '../support/live-gateway.ts'
import { startOrigin } from '../support/wire.ts'

const REQUESTS = 4000
const PIPELINED = 20
const ANSWER = 'HTTP/1.1 200 '

t.test('a log that nobody reads holds up no request', async (t) => {
  const origin = await startOrigin(t)
  const gateway = await startLiveGateway(t, { origin: origin.url })
  const { stdout } = gateway.program.child
  stdout!.pause()

  const head = gateway.head(`/${'x'.repeat(1000)}`)
  const socket = connect(gateway.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let carried = ''
  let answers = 0
  socket.on('data', (chunk: Buffer) => {
    const text = carried + chunk.toString('latin1')
    answers += text.split(ANSWER).length - 1
    carried = text.slice(1 - ANSWER.length)
  })
  for (let sent = 0; sent < REQUESTS; sent += PIPELINED) {
    socket.write(head.repeat(PIPELINED))
    await until(() => answers >= sent + PIPELINED, 30_000)
  }
  t.equal(answers, REQUESTS)
  const droppedCount = async () =>
    (await gateway.metrics()).get('gateway_access_log_dropped_total') ?? 0
  const dropped = await droppedCount()
  t.ok(dropped > 0, 'what nobody reads is dropped and counted')

  stdout!.resume()
  const requestLines = () => gateway.logged().filter(({ kind }) => kind === 'request').length
  await until(() => requestLines() === REQUESTS - dropped, 30_000)
  t.equal(requestLines(), REQUESTS - dropped, 'all others are whole')
})
