/** The machine that we run on. Anything here may hang: files of network mounts, commands, device nodes. */
import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { LIMITS } from '../../../../shared/limits.ts'
import type { Command, CommandResult, Machine } from './machine.ts'

interface ReaderWorld {
  readonly platform: string
  /** `SystemRoot` on Windows: where PowerShell is. */
  readonly systemRoot?: string | undefined
  readonly nowMs: () => number
}

export function createMachine({ platform, systemRoot, nowMs }: ReaderWorld): Machine {
  return {
    platform,
    bytes: (path) => readBounded(path).catch(() => null),
    names: (path) => readdir(path).catch(() => null),
    resolved: (path) => realpath(path).catch(() => null),
    writtenMs: (path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => null,
      ),
    nowMs,
    run: (command) => run(command, platform, systemRoot),
  }
}

/** What sysfs calls a file has no size, so it is read until it ends or until it is too much. */
async function readBounded(path: string): Promise<Uint8Array | null> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    if (!(await handle.stat()).isFile()) return null
    const most = LIMITS.deviceFileBytesMax
    const buffer = Buffer.alloc(most + 1)
    let length = 0
    while (length <= most) {
      const { bytesRead } = await handle.read(buffer, length, most + 1 - length)
      if (bytesRead === 0) return buffer.subarray(0, length)
      length += bytesRead
    }
    return null
  } finally {
    await handle.close()
  }
}

/** In one language, so that output can be read; and without whatever else we were started with. */
const ENVIRONMENT = { LC_ALL: 'C', LANGUAGE: 'C', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }

const environmentOf = (user: Command['user']) => ({
  ...ENVIRONMENT,
  ...(user && { HOME: user.home, XDG_RUNTIME_DIR: `/run/user/${user.uid}` }),
})

function run(
  { file, args, user }: Command,
  platform: string,
  systemRoot = 'C:\\Windows',
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const program = file.replace('%SystemRoot%', systemRoot)
    const child = spawn(program, [...args], {
      // Windows' own programs want its whole environment
      ...(platform !== 'win32' && { env: environmentOf(user) }),
      ...(user && { uid: user.uid, gid: user.gid }),
      cwd: platform === 'win32' ? systemRoot : '/',
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
    })
    const chunks: Buffer[] = []
    let length = 0
    // a child that cannot be killed, because it waits for a disk, holds nobody up
    const give = (result: CommandResult) => {
      clearTimeout(timer)
      resolve(result)
      if (result.kind === 'ended') return
      child.kill('SIGKILL')
      child.stdout.destroy()
      child.unref()
    }
    const timer = setTimeout(() => give({ kind: 'timed_out' }), LIMITS.deviceFactMsMax)
    child.on('error', (error: NodeJS.ErrnoException) =>
      give({ kind: error.code === 'ENOENT' ? 'missing' : 'failed' }),
    )
    child.stdout.on('error', () => give({ kind: 'failed' }))
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > LIMITS.deviceFileBytesMax) give({ kind: 'failed' })
      else chunks.push(chunk)
    })
    child.on('close', (code) => {
      const text = Buffer.concat(chunks).toString('utf8')
      give(code === null ? { kind: 'failed' } : { kind: 'ended', code, text })
    })
  })
}
