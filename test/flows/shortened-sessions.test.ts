/** What was revoked stays so where sessions last for shorter, and then for longer again. */
import t from 'tap'
import { startLiveGateway } from '../support/live-gateway.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startOrigin } from '../support/wire.ts'

const DAY_SECONDS = 86_400
const LONG = { max_session_seconds: 30 * DAY_SECONDS }
const SHORT = { max_session_seconds: 8 * 3600 }

t.test('a gateway that starts meanwhile lets nobody in again', async (t) => {
  const { url: origin } = await startOrigin(t, (_request, response) => void response.end('in'))
  const gateway = await startLiveGateway(t, { origin, workers: 2, tenant: LONG })
  const { control, port, program } = gateway
  const ask = async (): Promise<number> => {
    const head = gateway.head('/', 'Connection: close\r\n', 3 * DAY_SECONDS)
    return Number((await rawRequest(port, head)).split(' ')[1])
  }
  t.equal(await ask(), 200, 'signed in three days ago')
  const twoDaysAgo = Math.floor(Date.now() / 1000) - 2 * DAY_SECONDS
  const ended = { sids: { 'sid-1': twoDaysAgo }, session_seconds: 30 * DAY_SECONDS }
  control.revoke('app', ended)
  await control.hub.revocationsSettled(60_000)
  t.equal(await ask(), 401)

  await control.settled(control.put('app', SHORT))
  await program.stop()
  await gateway.startAgain()
  await control.settled(control.put('app', LONG))
  for (let count = 0; count < 4; count += 1) t.equal(await ask(), 401)
})
