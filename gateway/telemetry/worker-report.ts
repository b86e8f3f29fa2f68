/** A worker's end of the metrics: answers the primary, and says its last words before it ends. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isTelemetry, type TellReport, type WorkerGauges } from './messages.ts'
import type { WorkerCounts } from './worker-counts.ts'

interface Reporting {
  readonly take: () => WorkerCounts
  readonly gauges: () => Omit<WorkerGauges, 'loopLagMs' | 'cpuMs' | 'residentBytes'>
}

const LOOP_SAMPLE_MS = 50

export function createWorkerReporter(channel: NodeJS.Process, { take, gauges }: Reporting) {
  const loopDelay = monitorEventLoopDelay({ resolution: LOOP_SAMPLE_MS })
  loopDelay.enable()

  /** Settles when the primary has what there is. */
  function tell(): Promise<void> {
    // The histogram holds the time between two samples, of which the first 50 ms are no delay.
    const loopLagMs = Math.max(0, loopDelay.max / 1e6 - LOOP_SAMPLE_MS)
    loopDelay.reset()
    const { user, system } = channel.cpuUsage()
    const report = {
      counts: take(),
      gauges: {
        ...gauges(),
        loopLagMs,
        cpuMs: (user + system) / 1000,
        residentBytes: channel.memoryUsage.rss(),
      },
    }
    const message: TellReport = { channel: 'telemetry', type: 'report', report }
    return new Promise((resolve) => {
      if (channel.connected) channel.send!(message, undefined, undefined, () => resolve())
      else resolve()
    })
  }

  function hear(message: unknown) {
    if (isTelemetry(message) && message.type === 'ask') void tell()
  }
  channel.on('message', hear)

  return {
    tell,
    close() {
      loopDelay.disable()
      channel.off('message', hear)
    },
  }
}
