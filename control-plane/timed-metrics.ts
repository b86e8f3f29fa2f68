/** What the control plane times, as figures: sign-ins by step, jobs, and what is sent to others. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { SECOND_MS } from '../shared/clock.ts'
import type { Timed, Tracing } from './tracing/tracing.ts'

type Timing = Pick<Tracing, 'onTimed' | 'dropped'>

/** Answers what has to be read before the figures are. */
export function timedMetrics(tracing: Timing, registry: Registry, nowMs: () => number) {
  const registers = [registry]
  const signIns = new Histogram({
    name: 'control_plane_sign_in_step_duration_seconds',
    help: 'Steps of sign-ins that were answered, and what came of them.',
    labelNames: ['step', 'outcome'],
    buckets: [0.025, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  })
  const jobMs = new Gauge({
    name: 'control_plane_job_duration_seconds',
    help: 'How long each job took when it last ran here.',
    labelNames: ['job'],
    registers,
  })
  const jobDone = new Gauge({
    name: 'control_plane_job_done_timestamp_seconds',
    help: 'When each job last came to its end here; what one control plane does for all runs at one.',
    labelNames: ['job'],
    registers,
  })
  const jobFailures = new Counter({
    name: 'control_plane_job_failures_total',
    help: 'Jobs that failed since the start.',
    labelNames: ['job'],
    registers,
  })
  const outgoing = new Histogram({
    name: 'control_plane_outgoing_duration_seconds',
    help: 'Requests to webhooks, identity providers, certificate authorities and the mail server.',
    labelNames: ['to', 'result'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  const dropped = new Counter({
    name: 'control_plane_trace_spans_dropped_total',
    help: 'Spans that the collector did not get since the start.',
    registers,
  })

  function count({ name, attributes, ms, isFailed }: Timed) {
    const { job = '', step = '', to = '', outcome = 'failed' } = attributes
    const seconds = ms / SECOND_MS
    if (name === 'sign_in') signIns.observe({ step, outcome }, seconds)
    if (name === 'outgoing') {
      const isAnswered = !isFailed && attributes['error.type'] === undefined
      outgoing.observe({ to, result: isAnswered ? 'answered' : 'failed' }, seconds)
    }
    if (name !== 'job') return
    jobMs.set({ job }, seconds)
    if (isFailed) jobFailures.inc({ job })
    else jobDone.set({ job }, nowMs() / SECOND_MS)
  }
  tracing.onTimed(count)

  return () => {
    dropped.reset()
    dropped.inc(tracing.dropped())
  }
}
