/** A Containerfile, as far as ours go. */
import { readFileSync } from 'node:fs'

export interface ContainerFile {
  readonly all: readonly string[]
  /** Of the stage that is the image. */
  readonly last: readonly string[]
  /** What stands behind each of these instructions in it. */
  settings(instruction: string): string[]
}

export function containerFile(path: string): ContainerFile {
  const lines = readFileSync(path, 'utf8').split('\n')
  const all = lines.filter((line) => /^[A-Z]+ /.test(line))
  const last = all.slice(all.findLastIndex((line) => line.startsWith('FROM ')))
  const settings = (instruction: string) =>
    last
      .filter((line) => line.startsWith(`${instruction} `))
      .map((line) => line.slice(instruction.length + 1))
  return { all, last, settings }
}
