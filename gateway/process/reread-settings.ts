/** What changes while the gateway runs: its key, when the file of that does, and with SIGHUP its log level. */
import { statSync } from 'node:fs'
import type { Logger } from 'pino'
import { fileState, watchKeyFiles } from '../../shared/config/key-watch.ts'
import type { LogThreshold } from '../../shared/log.ts'
import type { GatewaySettings } from '../config.ts'

interface RereadWorld {
  readonly settings: Pick<GatewaySettings, 'id' | 'fleetKey' | 'keyFiles'>
  readonly reread: () => Pick<GatewaySettings, 'fleetKey' | 'logLevel'>
  readonly threshold: LogThreshold
  readonly log: Logger
  readonly onKey: (fleetKey: string) => void
}

export function rereadSettings({ settings, reread, threshold, log, onKey }: RereadWorld) {
  const { id, keyFiles: paths } = settings
  let { fleetKey } = settings

  function read(isAsked: boolean) {
    try {
      const next = reread()
      if (isAsked) threshold.level = next.logLevel
      if (next.fleetKey === fleetKey) return
      fleetKey = next.fleetKey
      log.info({ gateway_id: id }, 'the key of this gateway is replaced')
      onKey(fleetKey)
    } catch (error) {
      const reason = (error as Error).message
      log.error({ reason }, 'the settings could not be read again, all stays as it is')
    }
  }

  const stateOf = (path: string) => {
    const facts = statSync(path, { throwIfNoEntry: false, bigint: true })
    return facts && fileState(facts)
  }
  const watch = watchKeyFiles({ paths, stateOf, onChange: () => read(false) })
  return { now: () => read(true), close: watch.close }
}
