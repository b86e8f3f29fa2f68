/** The counts that the control plane has not taken yet, on disk: no secrets, only numbers. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import * as v from 'valibot'
import { DecisionCountSchema, whole } from '../../shared/fleet/snapshot.ts'

const counts = v.array(DecisionCountSchema)
const KeptFiguresSchema = v.object({
  underway: v.nullable(v.object({ run: v.string(), batch: whole, startedMs: whole, counts })),
  waiting: v.array(v.object({ startedMs: whole, counts })),
})
export type KeptFigures = v.InferOutput<typeof KeptFiguresSchema>

export type FiguresFile = ReturnType<typeof openFiguresFile>

export function openFiguresFile(directory: string, log: Logger) {
  const file = join(directory, 'figures.json')
  let isFailing = false

  return {
    load() {
      try {
        return v.parse(KeptFiguresSchema, JSON.parse(readFileSync(file, 'utf8')))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          log.warn({ file }, 'the kept counts cannot be read: counting begins anew')
        return { underway: null, waiting: [] }
      }
    },
    /** What cannot be written is still sent; only a crash loses it then. */
    save(kept: KeptFigures) {
      try {
        writeFileSync(`${file}.new`, JSON.stringify(kept), { mode: 0o600 })
        renameSync(`${file}.new`, file)
        isFailing = false
      } catch (error) {
        if (!isFailing) log.error({ file, error }, 'counts cannot be written down')
        isFailing = true
      }
    },
  }
}
