/** Files of keys, however a platform puts the next one there. */
import * as files from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fileState, watchKeyFiles } from '../../../shared/config/key-watch.ts'
import { temporaryFolder } from '../../support/control-plane.ts'

t.test(
  'written over, renamed into place, linked anew, gone and back: each is told once',
  async (t) => {
    const folder = temporaryFolder(t)
    const at = (name: string) => join(folder, name)
    files.writeFileSync(at('key'), 'one')
    files.writeFileSync(at('first'), 'one')
    files.symlinkSync(at('first'), at('link'))
    let told = 0
    const paths = [at('key'), at('link'), at('missing')]
    const stateOf = (path: string) => {
      const facts = files.statSync(path, { throwIfNoEntry: false, bigint: true })
      return facts && fileState(facts)
    }
    const watch = watchKeyFiles({ paths, stateOf, onChange: () => void told++ })
    t.teardown(watch.close)
    const isTold = (what: string, change: () => void) => {
      const before = told
      change()
      watch.look()
      watch.look()
      t.equal(told, before + 1, what)
    }
    watch.look()
    t.equal(told, 0, 'nothing has changed')
    isTold('written over', () => files.writeFileSync(at('key'), 'two'))
    isTold('renamed into place', () => {
      files.writeFileSync(at('next'), 'two')
      files.renameSync(at('next'), at('key'))
    })
    isTold('linked anew, as Kubernetes does', () => {
      files.writeFileSync(at('second'), 'one')
      files.symlinkSync(at('second'), at('link-next'))
      files.renameSync(at('link-next'), at('link'))
    })
    isTold('there now', () => files.writeFileSync(at('missing'), 'x'))
    isTold('gone', () => files.rmSync(at('missing')))
  },
)
