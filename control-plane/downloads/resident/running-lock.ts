/**
 * One running program to a state folder: two with the same key would get into each other's way. A socket that somebody listens on; whoever dies lets go of it.
 */
import { createHash } from 'node:crypto'
import { chmod, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'

interface RunningLock {
  release(): Promise<void>
}

/** Longer ones cannot be listened on (`sun_path`). */
const PATH_BYTES_MAX = 100

/** null: another one runs here. `unlocked`, with the reason, where there can be no such socket. */
export async function takeRunningLock(
  program: string,
  folder: string,
  platform: string,
): Promise<RunningLock | null | { readonly unlocked: string }> {
  const path =
    platform === 'win32'
      ? `\\\\.\\pipe\\${program}-${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`
      : join(folder, 'running.sock')
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return { unlocked: 'the path is too long' }
  for (let attempt = 0; attempt < 3; attempt++) {
    const server = createServer((socket) => socket.destroy())
    const code = await listen(server, path)
    if (code === '') {
      server.unref()
      if (platform !== 'win32') await chmod(path, 0o600).catch(() => undefined)
      return { release: () => new Promise((resolve) => server.close(() => resolve())) }
    }
    if (code !== 'EADDRINUSE') return { unlocked: code }
    if (await isAnswered(path)) return null
    await rm(path, { force: true }).catch(() => undefined)
  }
  return null
}

/** '' once it listens. */
const listen = (server: Server, path: string): Promise<string> =>
  new Promise((resolve) => {
    server.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code))
    server.listen(path, () => resolve(''))
  })

const isAnswered = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.on('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
