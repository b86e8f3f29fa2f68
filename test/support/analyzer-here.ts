/**
 * The command line tool in this process: bundled as it is downloaded, without the few lines that
 * read a process and end it (`main.ts`). A program that starts costs ten times what it does then.
 */
import { createRequire } from 'node:module'
import { Readable, Writable } from 'node:stream'
import { compileFunction } from 'node:vm'
import type { run } from '../../control-plane/downloads/analyzer/program.ts'
import { bundle } from '../../control-plane/downloads/bundling/bundle.ts'

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface CallHere {
  readonly environment: Readonly<Record<string, string>>
  readonly folder: string
  readonly home: string
  readonly input: string
  /** Where the program is that this stands for. */
  readonly program: string
}

const entry = new URL('../../control-plane/downloads/analyzer/program.ts', import.meta.url)

/** For whatever address: the bundle is given that as a parameter. */
let bundled: Promise<string> | undefined
const codeOf = () =>
  (bundled ??= bundle({ entry, formats: ['cjs'] }).then(({ codes }) => codes[0] ?? ''))

export async function analyzerHere(baseUrl: string) {
  const parameters = ['module', 'exports', 'require', 'BUILT_IN_BASE_URL']
  const module = { exports: {} as { run: typeof run } }
  const evaluate = compileFunction(await codeOf(), parameters) as (...given: unknown[]) => void
  evaluate(module, module.exports, createRequire(import.meta.url), baseUrl)

  return async (args: readonly string[], call: CallHere): Promise<Ended> => {
    const [out, err] = [collected(), collected()]
    const code = await module.exports.run(args, {
      environment: call.environment,
      stdin: Readable.from(call.input === '' ? [] : [Buffer.from(call.input)]) as NodeJS.ReadStream,
      stdout: out.stream,
      stderr: err.stream,
      currentFolder: call.folder,
      homeFolder: call.home,
      userId: process.getuid?.(),
      nodeVersion: process.versions.node,
      programFile: call.program,
      nowMs: Date.now,
      uninterrupted: (work) => work(),
      fetch,
    })
    return { code, out: out.text(), err: err.text() }
  }
}

function collected() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream: stream as NodeJS.WriteStream, text: () => Buffer.concat(chunks).toString() }
}
