/** The worker has no file descriptors left: what becomes of who connects, and of the CPU. */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { cpuTime } from '../cpu.ts'
import { childrenOf, type startLiveGateway } from '../../test/support/live-gateway.ts'
import { RawClient } from '../../test/support/wire.ts'

const CONNECTIONS = 500
const ROOM = 50
const WATCHED_MS = 3000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export async function measureDescriptors(gateway: Awaited<ReturnType<typeof startLiveGateway>>) {
  const [worker = 0] = childrenOf(gateway.program.child.pid!)
  const head = gateway.head('/')
  const open = readdirSync(`/proc/${worker}/fd`).length
  const limit = (nofile: number) =>
    spawnSync('prlimit', ['--pid', String(worker), `--nofile=${nofile}:20000`])
  if (limit(open + ROOM).error !== undefined) return console.log('  skipped: there is no prlimit')
  let [answered, closed] = [0, 0]
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(gateway.port, '127.0.0.1')
    socket.on('error', () => undefined).on('close', () => closed++)
    // Half a head: whoever was accepted holds on to its place.
    socket.on('data', () => answered++).write('GET / HTTP/1.1\r\n')
    return socket
  })
  await sleep(1000)
  const before = cpuTime([worker])
  await sleep(WATCHED_MS)
  const after = cpuTime([worker])
  const cpuMs = (after.userUs + after.kernelUs - before.userUs - before.kernelUs) / 1000
  console.log(
    `  room for ${ROOM} more: of ${CONNECTIONS} connections ${closed} were closed, ${CONNECTIONS - closed} held; ` +
      `${cpuMs} ms of CPU in ${WATCHED_MS} ms`,
  )
  for (const socket of sockets) socket.destroy()
  const startMs = performance.now()
  for (let tries = 1; ; tries++) {
    const client = new RawClient(gateway.port)
    client.send(head)
    const answer = await client.answer()
    client.close()
    if (answer?.status !== 200) continue
    const tookMs = Math.round(performance.now() - startMs)
    console.log(`  200 again after ${tookMs} ms and ${tries} tries, while the limit still holds`)
    break
  }
  const isSame = childrenOf(gateway.program.child.pid!)[0] === worker
  console.log(`  ${isSame ? 'the same worker' : 'ANOTHER worker'} serves on`)
}
