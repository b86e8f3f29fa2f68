/** Of what is read, asked and changed of strangers' projects; a part of `LIMITS`, which is what is asked. */
export const PROJECT_LIMITS = {
  // projects of strangers, read by the command line tool
  /** Of one file of code; generated and minified ones are longer. */
  analyzerSourceCharactersMax: 1024 * 1024,
  analyzerSourceNodesMax: 400_000,
  analyzerSourceDepthMax: 1000,
  analyzerPackagesMax: 300,
  /** Of code that is parsed: of a whole project, from one entry, and kept as trees at a time. */
  analyzerCharactersMax: 16 * 1024 * 1024,
  analyzerReachCharactersMax: 3 * 1024 * 1024,
  analyzerReachFilesMax: 600,
  analyzerHeldCharactersMax: 4 * 1024 * 1024,
  /** Steps from name to name and from file to file, to find where an application is made. */
  analyzerStepsMax: 20_000,
  /** Source files of one application that are searched for what goes past a middleware. */
  analyzerSearchedFilesMax: 3000,
  // guides: the edits that integrate a project
  guideEditsMax: 50,
  guidePathCharactersMax: 512,
  guideTextCharactersMax: 256 * 1024,
  guideRemarkCharactersMax: 2000,
  guideRemarksMax: 50,
  // guides that a model writes
  analysisBodyBytesMax: 8 * 1024 * 1024,
  analysisFilesMax: 100,
  analysisFileCharactersMax: 200_000,
  /** Searching what was sent for secrets, in a thread of its own. */
  maskingMsMax: 15_000,
  /** The same for judging what a model has answered. */
  judgingMsMax: 15_000,
  /** Calls of a provider that may have cost something, of one tenant. */
  analysesPerHourMax: 5,
  /** Under way at the same time: each holds its files. */
  analysesAtOnceMax: 8,
  analysesAtOncePerTenantMax: 2,
  /** Beside those: bodies of one tenant that are read, whatever comes of them. */
  rateAnalysis: { burst: 20, perSecond: 1 / 30 },
  analysisAnswerBytesMax: 2 * 1024 * 1024,
  analysisAttemptsMax: 3,
  analysisKeptMs: 35 * 24 * 3600 * 1000,
  guidesKeptPerTenantMax: 10,
  editPathSegmentsMax: 32,
  editNameBytesMax: 255,
  editedFileBytesMax: 1024 * 1024,
  /** Of all files that one plan changes, together. */
  editedCharactersMax: 8 * 1024 * 1024,
  /** Fifty files, each at the end of new folders of its own. */
  journalBytesMax: 2 * 1024 * 1024,
  /** What `git` is given to say whether a work tree has changes. */
  gitMsMax: 30_000,
  gitAnswerBytesMax: 1024 * 1024,
  /** What a dry run is given to load the middleware, and how much of what it says is kept. */
  dryRunMsMax: 20_000,
  dryRunSaysCharactersMax: 64 * 1024,
  /** How long `setup` waits for somebody to start an application, and how often it looks. */
  setupWaitMsMax: 15 * 60 * 1000,
  setupLookMs: 1000,
  /** What was started a moment ago is verified again, so often and so much later. */
  setupVerifyTriesMax: 6,
  setupVerifyPauseMs: 3000,
  // a project that the command line tool looks at: a walk of seconds, and tens of megabytes
  projectFilesMax: 200_000,
  projectFoldersMax: 50_000,
  projectDepthMax: 32,
  /** Of everything that lies there, listed or not. */
  projectEntriesMax: 2_000_000,
  /** A heap of data must not take the place of everybody's code. */
  projectFilesPerFolderMax: 10_000,
  projectFileBytesMax: 1024 * 1024,
  projectRememberedBytesMax: 64 * 1024 * 1024,
  /** What could not be read, as told to a person. */
  projectUnreadMax: 100,
  /** Files of code that detection reads, of each language. */
  detectionSourcesMax: 5000,
  /** Places in one file that read like what is looked for. */
  detectionHitsMax: 1000,
} as const
