/**
 * Why a fact is what it is: the codes that probes send, and that are put into words where they are
 * shown. An agent may be newer than who shows it, so a code that is not listed here is no error.
 */
import type { DeviceFact } from './facts.ts'

/** Of any fact: what was asked gave no answer that counts. */
export const ANY_FACT_REASONS = [
  'timed_out',
  'not_allowed',
  'not_readable',
  'tool_missing',
  'platform_not_supported',
  /** Ours, of a machine that has not said anything yet. */
  'not_reported',
] as const

export const FACT_REASONS = {
  disk_encrypted: [
    'encrypted',
    'not_encrypted',
    'partly_encrypted',
    'encryption_suspended',
    'encryption_in_progress',
    'encryption_not_offered',
    'root_overlay',
    'root_in_memory',
    'root_network',
    'filesystem_not_known',
    'volume_locked',
  ],
  up_to_date: [
    'up_to_date',
    'security_updates',
    'restart_needed',
    'update_data_missing',
    'update_data_old',
    'security_source_missing',
    'package_manager_not_known',
  ],
  firewall: [
    'ufw',
    'firewalld',
    'nftables',
    'iptables',
    'windows_firewall',
    'no_firewall',
    'allows_all',
    'ipv6_open',
    'profile_off',
  ],
  screen_lock: [
    'locks',
    'no_session',
    'lock_off',
    'lock_late',
    'lock_without_password',
    'desktop_not_known',
  ],
  secure_boot: ['on', 'off', 'legacy_boot', 'not_offered', 'shim_validation_off'],
  tpm: ['tpm_2', 'tpm_1', 'no_tpm', 'tpm_not_ready', 'tpm_version_not_known'],
} as const satisfies Record<DeviceFact, readonly string[]>

/** What the device policy demands beside facts, and why a machine does not meet it. */
export const DEMAND_REASONS = {
  state: ['revoked', 'suspect_clone'],
  owner: ['owner_unknown', 'owned_by_another'],
  approved: ['approval_pending'],
  key_storage: ['key_in_file'],
  os: ['not_reported', 'os_version_unknown', 'os_too_old'],
  agent: ['agent_too_old'],
  fresh: ['not_reported', 'facts_too_old'],
} as const

export type AnyFactReason = (typeof ANY_FACT_REASONS)[number]
export type FactReason<Name extends DeviceFact = DeviceFact> =
  | AnyFactReason
  | (typeof FACT_REASONS)[Name][number]
