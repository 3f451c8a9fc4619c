package commands

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A duelTalk makes random lines of the commands of all types. A line begins as
// one of duelForms and is sometimes spoilt. Each type has keys of its own, which
// now and then are used for another.
type duelTalk struct{ *rand.Rand }

func (r duelTalk) pick(of ...string) string { return of[r.IntN(len(of))] }

// duelForms say how lines are made: $x is a random word of the kind x, a|b one
// of the two, [ … ] may be left out, { … } may be repeated.
var duelForms = strings.Split(strings.TrimSpace(`
SET $t $v [ NX|XX ] [ GET ] [ KEEPTTL ]
SET $t $v PXAT|EXAT $at
SET $k $v
GET|STRLEN|GETDEL $t
GETEX $t [ PERSIST ]
GETEX $t PXAT|EXAT $at
GETSET|SETNX|APPEND $t $v
GETRANGE|SUBSTR $t $i $i
SETRANGE $t $off $v
SETBIT $t $off 0|1|2
GETBIT $t $i
BITCOUNT $t [ $i $i [ BIT|BYTE ] ]
BITPOS $t 0|1|2 [ $i [ $i [ BIT|BYTE ] ] ]
BITOP AND|OR|XOR|NOT $t { $t }
BITFIELD $t { GET $bits $i }
BITFIELD $t { OVERFLOW WRAP|SAT|FAIL SET|INCRBY $bits #1|#3|$off $i GET $bits $i }
BITFIELD_RO $t { GET $bits $i }
INCR|DECR $t
INCRBY|DECRBY $t $i
INCRBYFLOAT $t $f
MSET|MSETNX { $t $v }
MGET { $k }
LCS $t $t [ LEN ] [ IDX ] [ MINMATCHLEN $i ] [ WITHMATCHLEN ]
HSET|HMSET|HSET|HSET $h { $m $v }
HSETNX $h $m $v
HGET|HEXISTS|HSTRLEN $h $m
HMGET|HDEL $h { $m }
HLEN|HKEYS|HVALS|HGETALL $h
HINCRBY $h $m $i
HINCRBYFLOAT $h $m $f
HRANDFIELD $h [ $n [ WITHVALUES ] ]
HSCAN $h 0 COUNT 1000 [ MATCH $pat ]
LPUSH|RPUSH|LPUSH|RPUSH $l { $v }
LPUSHX|RPUSHX $l { $v }
LPOP|RPOP $l [ $n ]
LLEN $l
LINDEX $l $i
LRANGE|LTRIM $l $i $i
LSET $l $i $v
LREM $l $i $v
LINSERT $l BEFORE|AFTER $v $v
LPOS $l $v [ RANK $i ] [ COUNT $n ] [ MAXLEN $n ]
LMOVE $l $l LEFT|RIGHT LEFT|RIGHT
RPOPLPUSH $l $l
LMPOP 1 $l LEFT|RIGHT [ COUNT $n ]
LMPOP 2 $l $l LEFT|RIGHT [ COUNT $n ]
SADD|SADD|SREM|SMISMEMBER $s { $m }
SCARD|SMEMBERS $s
SISMEMBER $s $m
SMOVE $s $s $m
SPOP|SRANDMEMBER $s [ $n ]
SINTER|SUNION|SDIFF { $s }
SINTERSTORE|SUNIONSTORE|SDIFFSTORE $s { $s }
SINTERCARD 2 $s $s [ LIMIT $n ]
SSCAN $s 0 COUNT 1000 [ MATCH $pat ]
ZADD|ZADD $z { $f $m }
ZADD $z [ NX|XX ] [ GT|LT ] [ CH ] { $f $m }
ZADD $z [ NX|XX ] [ GT|LT ] [ CH ] INCR $f $m
ZADD $lexkey { 0 $m }
ZADD $lexkey { 0 $m }
ZREM $lexkey { $m }
ZINCRBY $z $f $m
ZREM|ZMSCORE $z { $m }
ZCARD $z
ZSCORE|ZRANK|ZREVRANK $z $m
ZCOUNT|ZREMRANGEBYSCORE $z $bound $bound
ZLEXCOUNT|ZREMRANGEBYLEX $lexkey $lex $lex
ZREMRANGEBYRANK $z $i $i
ZRANGE|ZREVRANGE $z $i $i [ WITHSCORES ]
ZRANGE $z $i $i [ REV ] [ WITHSCORES ]
ZRANGE $z $bound $bound BYSCORE [ REV ] [ LIMIT $i $i ] [ WITHSCORES ]
ZRANGE $lexkey $lex $lex BYLEX [ REV ] [ LIMIT $i $i ]
ZRANGESTORE $z $z $i $i [ REV ]
ZRANGESTORE $z $z $bound $bound BYSCORE [ REV ] [ LIMIT $i $i ]
ZRANGESTORE $z $lexkey $lex $lex BYLEX [ REV ] [ LIMIT $i $i ]
ZRANGEBYSCORE|ZREVRANGEBYSCORE $z $bound $bound [ WITHSCORES ] [ LIMIT $i $i ]
ZRANGEBYLEX|ZREVRANGEBYLEX $lexkey $lex $lex [ LIMIT $i $i ]
ZPOPMIN|ZPOPMAX $z [ $n ]
ZMPOP 2 $z $z MIN|MAX [ COUNT $n ]
ZRANDMEMBER $z [ $n [ WITHSCORES ] ]
ZUNION|ZINTER 2 $zs $zs [ WEIGHTS $f $f ] [ AGGREGATE SUM|MIN|MAX ] [ WITHSCORES ]
ZUNIONSTORE|ZINTERSTORE $z 3 $zs $zs $zs [ WEIGHTS $f $f $f ] [ AGGREGATE SUM|MIN|MAX ]
ZDIFF 3 $zs $zs $zs [ WITHSCORES ]
ZDIFFSTORE $z 2 $zs $zs
ZINTERCARD 2 $zs $zs [ LIMIT $n ]
ZSCAN $z 0 COUNT 1000 [ MATCH $pat ]
GEOADD $g [ NX|XX ] [ CH ] { $lon $lat $m }
GEODIST $g $m $m [ $unit ]
GEOHASH|GEOPOS $g { $m }
GEOSEARCH $g FROMMEMBER $m BYRADIUS $dist $unit [ ASC|DESC ] [ COUNT $n [ ANY ] ] [ WITHCOORD ] [ WITHDIST ] [ WITHHASH ]
GEOSEARCH $g FROMLONLAT $lon $lat BYBOX $dist $dist $unit [ ASC|DESC ] [ COUNT $n ] [ WITHDIST ]
GEOSEARCHSTORE $z $g FROMLONLAT $lon $lat BYRADIUS $dist $unit [ COUNT $n ]
GEORADIUS|GEORADIUS_RO $g $lon $lat $dist $unit [ ASC|DESC ] [ COUNT $n ] [ WITHDIST ]
GEORADIUS $g $lon $lat $dist $unit STORE $z
GEORADIUSBYMEMBER $g $m $dist $unit [ WITHCOORD ]
PFADD $p { $m }
PFADD $p
PFCOUNT { $p }
PFMERGE $p { $p }
PFDEBUG GETREG|ENCODING|TODENSE $p
SORT $sortable [ LIMIT $i $i ] [ ASC|DESC ] [ ALPHA ]
SORT $sortable [ BY $by ] [ ALPHA ] { GET $by|# }
SORT_RO $sortable [ BY nosort ] [ DESC ]
SORT $sortable [ ALPHA ] [ DESC ] STORE $l
SORT $sortable BY $by STORE $l
DEL|UNLINK|EXISTS|TOUCH { $k }
RENAME|RENAMENX $k $k
COPY $k $k [ REPLACE ]
COPY $k $k DB 1 [ REPLACE ]
MOVE $k 1
TYPE|PERSIST|EXPIRETIME|PEXPIRETIME $k
EXPIREAT|PEXPIREAT $k $at [ NX|XX|GT|LT ]
EXPIRE|PEXPIRE $k -1|0|x|9223372036854775807
@soon $k
OBJECT ENCODING $k
KEYS $pat
SCAN 0 COUNT 1000 [ MATCH $pat ] [ TYPE string|list|set|zset|hash|stream ]
SWAPDB 0 1
SELECT 0
RANDOMKEY
HELLO 2|3
@exchange $k
CONFIG SET $limit 0|1|3|8|100
CONFIG SET $limit 64|128|512
`), "\n")

// duelWords are the kinds of words that are simply drawn; the others are made by
// word.
var duelWords = map[string][]string{
	"t":  {"t1", "t2", "t3", "t4"},
	"h":  {"h1", "h2", "h3"},
	"l":  {"l1", "l2", "l3"},
	"s":  {"s1", "s2", "s3"},
	"z":  {"z1", "z2", "z3"},
	"zs": {"z1", "z2", "z3", "s1", "s2"},
	"g":  {"g1", "g2", "z1"},
	"p":  {"p1", "p2", "p3"},

	"lexkey": {"x1", "x2"}, // all scores are 0
	"bits":   {"u8", "i8", "u1", "i64", "u63", "i5", "u64", "x"},
	"pat":    {"*", "?", "[a-f]*", "e1*", "1*", "h?", ""},
	"bound":  {"-inf", "+inf", "0", "(0", "1", "(1.5", "-3", "100", "(100", "x", "nan"},
	"lex":    {"-", "+", "[a", "(a", "[e150", "(e2", "[", "(", "a", ""},
	"unit":   {"m", "km", "ft", "mi", "KM", "x"},
	"dist":   {"0", "100", "5000.5", "20000", "1000000", "-1", "x"},
	"by":     {"t*", "h*->a", "w_*", "nosort", "h1->*", "*", "t1"},
	"limit": {
		"hash-max-listpack-entries", "hash-max-listpack-value", "set-max-intset-entries",
		"zset-max-listpack-entries", "zset-max-listpack-value", "hll-sparse-max-bytes",
	},
	"at":       {"9999999999999", "9999999999", "4000000000000", "1000", "0", "-1", "x", "9223372036854775807"},
	"sortable": {"l1", "l2", "s1", "s2", "z1", "z2"},
}

// duelKeys are all keys; those of streams are of streamTalk.
var duelKeys = []string{
	"t1", "t2", "t3", "t4", "h1", "h2", "h3", "l1", "l2", "l3", "s1", "s2", "s3", "z1", "z2", "z3", "g1", "g2", "p1", "p2", "p3", "a", "b", "c",
}

func (r duelTalk) word(kind string) string {
	words := duelWords[kind]
	switch kind {
	case "t", "h", "l", "s", "z", "zs", "g", "p", "sortable":
		if r.IntN(40) == 0 {
			words = duelKeys
		}
	case "k":
		words = duelKeys
	case "m":
		return r.member()
	case "v":
		return r.value()
	case "i":
		return r.pick("0", "1", "2", "-1", "-2", "5", "-100", "100", strconv.Itoa(r.IntN(700)), strconv.Itoa(-r.IntN(20)), r.number())
	case "off": // of a write: what is allowed stays short, or one MGET asks for gigabytes
		return r.pick("0", "1", "7", "-1", "100", "x", "70000", "4294967296", "9223372036854775807", strconv.Itoa(r.IntN(700)))
	case "n":
		return r.pick("1", "2", "3", "10", "0", "-3", strconv.Itoa(r.IntN(600)), r.number())
	case "f":
		return r.float()
	case "lon":
		return r.pick("13.361389", "15.087269", fmt.Sprintf("%.4f", r.Float64()*30), "-181", fmt.Sprintf("%.3f", r.Float64()*360-180))
	case "lat":
		return r.pick("38.115556", "37.502669", fmt.Sprintf("%.4f", r.Float64()*50), "86", fmt.Sprintf("%.3f", r.Float64()*170-85))
	}
	if words == nil {
		panic("no words of kind " + kind)
	}
	return words[r.IntN(len(words))]
}

// number is one at the edge of what can be, or none.
func (r duelTalk) number() string {
	if r.IntN(4) > 0 {
		return strconv.Itoa(r.IntN(50))
	}
	return r.pick("x", "", "1.5", "9223372036854775807", "9223372036854775808", "-9223372036854775807", " 1", "01", "4294967296", "2147483648", "+1", "-0")
}

func (r duelTalk) member() string {
	switch r.IntN(12) {
	case 0:
		return r.pick("", "z\x00\xff\r\n", "01", "-0", "9223372036854775807", "9223372036854775808", "-32769", strings.Repeat("m", 64), strings.Repeat("m", 65), strings.Repeat("long", 100))
	case 1, 2:
		return fmt.Sprint("e", r.IntN(600))
	case 3, 4:
		return strconv.Itoa(r.IntN(700) - 50)
	case 5:
		return strconv.Itoa(r.IntN(1 << (1 + r.IntN(40))))
	}
	return r.pick("a", "b", "c", "d", "e", "1", "2", "3")
}

func (r duelTalk) value() string {
	switch r.IntN(12) {
	case 0:
		return r.pick("", "\x00\xff\r\n", strings.Repeat("v", 44), strings.Repeat("v", 45), strings.Repeat("v", 64), strings.Repeat("v", 65))
	case 1:
		return strings.Repeat("abcdefg ", r.IntN(1<<r.IntN(10)))
	case 2:
		return r.float()
	case 3:
		return r.number()
	case 4:
		return r.member()
	}
	return r.pick("a", "b", "10", "20", "-3", strconv.Itoa(r.IntN(1000)), strconv.Itoa(r.IntN(1<<40)))
}

func (r duelTalk) float() string {
	switch r.IntN(8) {
	case 0:
		return r.pick("inf", "-inf", "nan", "1e300", "-1e308", "x", "", " 1", "0x10", "-0", "1e17", "123456789012345678")
	case 1:
		return strconv.FormatFloat(r.NormFloat64(), 'g', -1, 64)
	case 2:
		return fmt.Sprintf("%.2f", r.NormFloat64()*1000)
	}
	return strconv.Itoa(r.IntN(20) - 5)
}

// line makes a line.
func (r duelTalk) line() []string {
	if r.IntN(10) == 0 {
		return r.streamLine()
	}
	line := r.expand(nil, strings.Fields(duelForms[r.IntN(len(duelForms))]))
	if r.IntN(25) == 0 && !duelWhole[line[0]] && !slices.Contains(line, "x1") && !slices.Contains(line, "x2") {
		line = r.spoil(line)
	}
	return line
}

// duelWhole are the lines that aren't spoilt: the harness has no such rows, or
// they may have more words than in Redis 7.0; and PFDEBUG makes a string raw in
// Redis even where it refuses to do more.
var duelWhole = map[string]bool{"CONFIG": true, "SELECT": true, "HELLO": true, "PFDEBUG": true, "@exchange": true, "@soon": true, "ZRANK": true, "ZREVRANK": true, "PERSIST": true}

// expand appends what a form stands for.
func (r duelTalk) expand(line, form []string) []string {
	for i := 0; i < len(form); i++ {
		switch w := form[i]; w {
		case "[", "{":
			end := i + groupEnd(form[i:])
			for range r.times(w) {
				line = r.expand(line, form[i+1:end])
			}
			i = end
		default:
			w = r.pick(strings.Split(w, "|")...)
			if kind, ok := strings.CutPrefix(w, "$"); ok {
				w = r.word(kind)
			}
			line = append(line, w)
		}
	}
	return line
}

// times is how often a group comes: now and then very often, so that values grow
// beyond every limit.
func (r duelTalk) times(bracket string) int {
	switch {
	case bracket == "[":
		return r.IntN(2)
	case r.IntN(60) == 0:
		return 50 + r.IntN(400)
	}
	return 1 + r.IntN(3)
}

// groupEnd finds the bracket that closes the first.
func groupEnd(form []string) int {
	depth := 0
	for i, w := range form {
		switch w {
		case "[", "{":
			depth++
		case "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	panic("an open bracket")
}

// spoil leaves a word out, adds one, or puts another one in its place.
func (r duelTalk) spoil(line []string) []string {
	i := r.IntN(len(line))
	if strings.HasSuffix(line[0], "SCAN") {
		i = 0 // cursors that nobody gave out may lead anywhere
	}
	junk := r.pick("x", "", "-1", "NX", "COUNT", "LIMIT", "0", "WITHSCORES", "GET", "STORE", r.word("k"))
	switch {
	case i == 0:
		return append(line, junk)
	case r.IntN(2) == 0:
		line[i] = junk
		return line
	}
	return append(line[:i:i], line[i+1:]...)
}

// streamLine leaves out what depends on the clock.
func (r duelTalk) streamLine() []string {
	line := streamTalk(r).line()
	if line[0] == "XADD" && len(line) > 2 {
		for i, w := range line {
			if w == "*" {
				line[i] = "50-*"
			}
		}
	}
	if line[0] == "XCLAIM" && len(line) > 4 {
		line[4] = "0"
	}
	return line
}
