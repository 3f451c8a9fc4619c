package commands

// Sorted sets.
const (
	ErrZaddNXAndXX Error = "ERR XX and NX options at the same time are not compatible"
	ErrZaddGTLT    Error = "ERR GT, LT, and/or NX options at the same time are not compatible"
	ErrZaddIncr    Error = "ERR INCR option supports a single increment-element pair"
	ErrScoreNaN    Error = "ERR resulting score is not a number (NaN)"
	ErrScoreRange  Error = "ERR min or max is not a float"
	ErrLexRange    Error = "ERR min or max not valid string range item"
	ErrRangeLimit  Error = "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
	ErrRangeScores Error = "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
	ErrWeight      Error = "ERR weight value is not a float"
)

// Lists.
const (
	ErrLposRank   Error = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list"
	ErrLposCount  Error = "ERR COUNT can't be negative"
	ErrLposMaxlen Error = "ERR MAXLEN can't be negative"
)

// HyperLogLog.
const (
	ErrNotHLL       Error = "WRONGTYPE Key is not a valid HyperLogLog string value."
	ErrCorruptHLL   Error = "INVALIDOBJ Corrupted HLL object detected"
	ErrHLLNoKey     Error = "ERR The specified key does not exist"
	ErrHLLNotSparse Error = "ERR HLL encoding is not sparse"
)

// SORT.
const (
	ErrSortNumber Error = "ERR One or more scores can't be converted into double"
)

// Places.
const (
	ErrGeoUnit        Error = "ERR unsupported unit provided. please use M, KM, FT, MI"
	ErrGeoRadius      Error = "ERR need numeric radius"
	ErrGeoNegative    Error = "ERR radius cannot be negative"
	ErrGeoWidth       Error = "ERR need numeric width"
	ErrGeoHeight      Error = "ERR need numeric height"
	ErrGeoNegativeBox Error = "ERR height or width cannot be negative"
	ErrGeoMember      Error = "ERR could not decode requested zset member"
	ErrGeoCount       Error = "ERR COUNT must be > 0"
	ErrGeoAny         Error = "ERR the ANY argument requires COUNT argument"
)

// Streams.
const (
	ErrStreamID          Error = "ERR Invalid stream ID specified as stream command argument"
	ErrStreamStart       Error = "ERR invalid start ID for the interval"
	ErrStreamEnd         Error = "ERR invalid end ID for the interval"
	ErrXAddZero          Error = "ERR The ID specified in XADD must be greater than 0-0"
	ErrXAddFull          Error = "ERR The stream has exhausted the last possible ID, unable to add more items"
	ErrXAddSmall         Error = "ERR The ID specified in XADD is equal or smaller than the target stream top item"
	ErrXAddSize          Error = "ERR Elements are too large to be stored"
	ErrXTrimTwice        Error = "ERR syntax error, MAXLEN and MINID options at the same time are not compatible"
	ErrXTrimMaxLen       Error = "ERR The MAXLEN argument must be >= 0."
	ErrXTrimLimit        Error = "ERR The LIMIT argument must be >= 0."
	ErrXTrimLimitAlone   Error = "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
	ErrXTrimLimitExact   Error = "ERR syntax error, LIMIT cannot be used without the special ~ option"
	ErrXTrimNothing      Error = "ERR syntax error, XTRIM must be called with a trimming strategy"
	ErrXSetIDSmall       Error = "ERR The ID specified in XSETID is smaller than the target stream top item"
	ErrXSetIDAdded       Error = "ERR The entries_added specified in XSETID is smaller than the target stream length"
	ErrXSetIDNegative    Error = "ERR entries_added must be positive"
	ErrXSetIDDeleted     Error = "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id"
	ErrXReadUnbalanced   Error = "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified."
	ErrXReadGroupOption  Error = "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead."
	ErrXReadNoAck        Error = "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead."
	ErrXReadNoGroup      Error = "ERR Missing GROUP option for XREADGROUP"
	ErrXReadNews         Error = "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option."
	ErrXReadGroupEnd     Error = "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set."
	ErrXGroupNoKey       Error = "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically."
	ErrXGroupRead        Error = "ERR value for ENTRIESREAD must be positive or -1"
	ErrBusyGroup         Error = "BUSYGROUP Consumer Group name already exists"
	ErrXClaimMinIdle     Error = "ERR Invalid min-idle-time argument for XCLAIM"
	ErrXClaimIdle        Error = "ERR Invalid IDLE option argument for XCLAIM"
	ErrXClaimTime        Error = "ERR Invalid TIME option argument for XCLAIM"
	ErrXClaimRetries     Error = "ERR Invalid RETRYCOUNT option argument for XCLAIM"
	ErrXAutoClaimMinIdle Error = "ERR Invalid min-idle-time argument for XAUTOCLAIM"
	ErrXAutoClaimCount   Error = "ERR COUNT must be > 0"
)

// Hashes.
const (
	ErrHashNotInteger Error = "ERR hash value is not an integer"
	ErrHashNotFloat   Error = "ERR hash value is not a float"
)

// Members that expire (KeyDB, Redis 7.4), and what else KeyDB adds.
const (
	ErrMemberArity    Error = "ERR Invalid number of arguments"
	ErrMemberUnit     Error = "ERR Invalid unit arg"
	ErrMemberType     Error = "ERR object type is unsupported"
	ErrFieldExpire    Error = "ERR invalid expire time, must be >= 0"
	ErrFieldsMissing  Error = "ERR Mandatory argument FIELDS is missing or not at the right position"
	ErrFieldsNumber   Error = "ERR Parameter `numFields` should be greater than 0"
	ErrFieldsPositive Error = "ERR Number of fields must be a positive integer"
	ErrFieldsCount    Error = "ERR The `numfields` parameter must match the number of arguments"
	ErrNoField        Error = "ERR hash key doesn't exist"
	ErrShiftArity     Error = "ERR BITOP SHIFT must be called with a single source key and an integer shift."
	ErrShiftInteger   Error = "ERR BITOP SHIFT's last parameter must be an integer"
	ErrShiftLarge     Error = "ERR BITOP SHIFT value is too large."
)

// DUMP and RESTORE.
const (
	ErrRestoreIdle Error = "ERR Invalid IDLETIME value, must be >= 0"
	ErrRestoreFreq Error = "ERR Invalid FREQ value, must be >= 0 and <= 255"
	ErrRestoreTTL  Error = "ERR Invalid TTL value, must be >= 0"
	ErrDumpVersion Error = "ERR DUMP payload version or checksum are wrong"
	ErrDumpFormat  Error = "ERR Bad data format"
)
