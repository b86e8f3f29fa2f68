/** The programs as children of `npm start`: begun together, ended together. */
import { fork, type ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'

interface Program {
  readonly name: string
  readonly file: string
  readonly args: readonly string[]
}

export type Children = ReturnType<typeof createChildren>

const STOP_MS_MAX = 15_000
/** That Node calls something experimental, which a library of ours asks for, is nobody's matter here. */
const QUIETLY = [...process.execArgv, '--disable-warning=ExperimentalWarning']

export function createChildren(hears: (output: Readable) => void) {
  const running = new Map<string, ChildProcess>()
  const ended = Promise.withResolvers<string>()
  let isStopping = false

  return {
    /** Settles with the name of a program that ended although nobody asked it to. */
    ended: ended.promise,
    /** Settles with what the program says once it serves; rejects when it ends before. */
    start({ name, file, args }: Program): Promise<unknown> {
      if (isStopping) return Promise.reject(new ProgramEnded(name, null))
      const child = fork(file, args, {
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
        execArgv: QUIETLY,
      })
      if (child.stdout !== null) hears(child.stdout)
      running.set(name, child)
      return new Promise((resolve, reject) => {
        child.once('message', resolve)
        child.once('exit', (code) => {
          running.delete(name)
          reject(new ProgramEnded(name, code))
          if (!isStopping) ended.resolve(name)
        })
      })
    },
    async stop() {
      isStopping = true
      const exits = [...running.values()].map((child) => end(child))
      await Promise.all(exits)
    },
  }
}

/** It has said itself why, on its standard error. */
export class ProgramEnded extends Error {
  constructor(program: string, code: number | null) {
    super(`the ${program} stopped (${code ?? 'by a signal'})`)
    this.name = 'ProgramEnded'
  }
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
    child.once('exit', () => {
      clearTimeout(impatience)
      resolve()
    })
    child.kill('SIGTERM')
  })
}
