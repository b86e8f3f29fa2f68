/** Of machines with our agent; a part of `LIMITS`, which is what is asked. */
export const DEVICE_LIMITS = {
  devicesPerTenantMax: 100_000,
  devicesPerPersonMax: 100,
  devicesRevokedAtOnceMax: 100,
  devicesExportedAtOnceMax: 500,
  /** On the same hardware: so many are looked at, whatever machines say of themselves. */
  devicesOnMachineMax: 100,
  /** Those that were revoked stay in lists for so long. */
  deviceRevokedKeptMs: 30 * 24 * 3600 * 1000,
  // tickets
  deviceTicketsPerTenantMax: 200,
  deviceTicketUsesMax: 10_000,
  deviceTicketSecondsMin: 1,
  deviceTicketSecondsDefault: 86_400,
  deviceTicketSecondsMax: 30 * 86_400,
  /** Whose answer to an enrolment was lost gets the same device again. */
  deviceEnrolAgainMs: 10 * 60 * 1000,
  /** Machines that were off for longer than between two rotations of our key enroll anew. */
  deviceKeysRotatedMsMin: 30 * 24 * 3600 * 1000,
  // what an agent sends
  /** From one address, which may be an office of thousands. */
  rateDeviceEnrol: { burst: 200, perSecond: 2 },
  /** Scripts, programs and what is newest, of an address: an office at nine. */
  rateDeviceInstall: { burst: 1000, perSecond: 10 },
  rateDeviceAgent: { burst: 1000, perSecond: 100 },
  /** Of one device, whatever it signs. */
  rateDeviceOwn: { burst: 30, perSecond: 1 / 30 },
  deviceBodyBytesMax: 16 * 1024,
  deviceHostnameCharactersMax: 253,
  deviceDetailCharactersMax: 200,
  /** Between two check-ins; each agent takes a random part of it off. */
  deviceCheckInSeconds: 3600,
  /** Of all devices, beside which sign-ins have room. */
  rateDeviceCheckIns: { burst: 300, perSecond: 150 },
  /** Check-ins that are worked on at once, and how long the others are told to wait, at most. */
  deviceCheckInsAtOnceMax: 64,
  deviceCheckInAgainSecondsMax: 900,
  /** What mends a lost chain is good for so long. */
  deviceNonceMs: 60_000,
  /** Starts of a machine that are remembered, to find one that comes back. */
  deviceBootsKept: 8,
  // the policy
  deviceGraceDaysMax: 90,
  /** Changes of what it demands that days of grace are counted by. */
  deviceDemandsKeptMax: 16,
  deviceFreshHoursMax: 24 * 90,
  deviceBreakGlassMax: 20,
  deviceSystemsPerPolicyMax: 20,
  /** Of those that people are signed in on: a hundred thousand are through in ten minutes. */
  devicesJudgedPerRoundMax: 10_000,
  // what a machine is asked
  deviceFactMsMax: 5000,
  deviceCollectSeconds: 300,
  /** Of a file that is read, or of what a command says. */
  deviceFileBytesMax: 4 * 1024 * 1024,
  /** What was fetched longer ago says nothing of updates. */
  deviceUpdateDataDaysMax: 7,
  /** Without a movement, until a password is needed: the longest that desktops offer, and their delay. */
  deviceLockSecondsMax: 1800,
  // the proof in a sign-in
  /** One for the whole installation: agents listen on it. */
  deviceProofPort: 18_653,
  deviceChallengeMs: 60_000,
  deviceProofCodeMs: 60_000,
  /** Of a code that people type, where a policy allows that. */
  deviceTypedCodeSeconds: 60,
  /** Of one address; each sign-in comes twice. */
  rateDeviceProof: { burst: 600, perSecond: 20 },
  /** Tabs of one sign-in that are on their way at once. */
  deviceChallengesPerSignInMax: 4,
  deviceProofUrlBytesMax: 2048,
  /** Of browsers and whoever else comes to the agent's port. */
  deviceProofConnectionsMax: 32,
  deviceProofHeadMsMax: 5000,
} as const
