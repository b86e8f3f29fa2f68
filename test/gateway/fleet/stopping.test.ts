/** Who signed out stays signed out: an orderly stop waits for the disk, however slow it is. */
// apart: keeps every thread of its process from files
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, rmSync, symlinkSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import {
  startControlPlane,
  startGateway,
  temporaryFolder,
  until,
  type TestGateway,
} from '../../support/fleet.ts'
import { restart } from '../../support/kept-files.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

const THREADS = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4)

/** Keeps every thread that reads and writes files busy, until the disk is let go. */
function holdDisk(t: Teardown): () => void {
  const pipes = Array.from({ length: THREADS }, () => join(temporaryFolder(t), 'pipe'))
  execFileSync('mkfifo', pipes)
  const held = pipes.map((pipe) => open(pipe, 'r'))
  return () => {
    const writers = pipes.map((pipe) => openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK))
    void Promise.all(held).then(async (readers) => {
      for (const reader of readers) await reader.close()
      for (const writer of writers) closeSync(writer)
    })
  }
}

async function startWithoutControlPlane(t: Teardown): Promise<TestGateway> {
  const control = await startControlPlane(t)
  control.put('ada')
  const gateway = startGateway(t, { port: control.port })
  await control.settled(1)
  await control.kill()
  return gateway
}

function signOut({ workers }: TestGateway) {
  workers[0]!.follower.reportEvent({
    tenant_id: 'ada',
    outcome: 'logout',
    subject: 'ada',
    sid: 'sid-1',
    ip: '127.0.0.1',
    app_host: 'ada.example',
  })
}

async function isSignedOutAfterRestart(gateway: TestGateway): Promise<boolean> {
  const { registry, close } = await restart(gateway.folder)
  const found = registry.byHost('ada.example')
  await close()
  return found.kind === 'served' && found.served.revoked.sids.has('sid-1')
}

t.test('a stop waits for a slow disk with a sign-out, longer than for anything else', async (t) => {
  const gateway = await startWithoutControlPlane(t)
  const release = holdDisk(t)
  signOut(gateway)
  await until(() => gateway.registry.byId('ada')?.revoked.sids.has('sid-1') === true)
  let isClosed = false
  const closing = gateway.close().then(() => (isClosed = true))
  // A stop has no patience with the rest for more than two seconds.
  await new Promise((resolve) => setTimeout(resolve, 3000))
  t.notOk(isClosed, 'it waits')
  release()
  await closing
  t.ok(await isSignedOutAfterRestart(gateway))
})

t.test('what the disk has refused is tried once more before the end', async (t) => {
  const gateway = await startWithoutControlPlane(t)
  const folder = join(gateway.folder, 'revoked')
  rmSync(folder, { recursive: true })
  symlinkSync('revoked', folder)
  signOut(gateway)
  await until(() => !gateway.link.status().isDiskHealthy)
  rmSync(folder)
  mkdirSync(folder)
  await gateway.close()
  t.ok(await isSignedOutAfterRestart(gateway))
})
