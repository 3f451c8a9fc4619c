package mvcc

import (
	"errors"
	"fmt"
)

// check verifies order, counts and accounts of the whole list.
func (s *seq) check() error {
	var errs []error
	for name, p := range map[string]*seqNode{"head": s.head, "tail": s.tail} {
		if p != nil && p.inner != nil {
			errs = append(errs, fmt.Errorf("the %s is no page", name))
		} else if p != nil {
			errs = append(errs, p.check())
		}
	}
	if s.root != nil {
		depth := 0
		for l := s.root; l.inner != nil; l = l.inner.kids[0] {
			depth++
		}
		errs = append(errs, s.root.checkBelow(depth))
	}
	return errors.Join(errs...)
}

// checkBelow verifies a node of the tree, whose pages are so much deeper.
func (l *seqNode) checkBelow(depth int) error {
	if (l.inner == nil) != (depth == 0) {
		return errors.New("pages at different depths")
	}
	if l.inner == nil {
		if l.n == 0 {
			return errors.New("an empty page in the tree")
		}
		return l.check()
	}
	in, count, bytes := l.inner, 0, int64(0)
	for k, kid := range in.kids {
		if (kid != nil) != (k < in.n) {
			return fmt.Errorf("child %d of %d: %p", k, in.n, kid)
		}
		if kid == nil {
			continue
		}
		if kid.count() != in.counts[k] {
			return fmt.Errorf("child %d has %d elements, counted %d", k, kid.count(), in.counts[k])
		}
		count += kid.count()
		bytes += kid.memory()
		if err := kid.checkBelow(depth - 1); err != nil {
			return err
		}
	}
	if in.n == 0 || count != in.count || bytes != in.bytes {
		return fmt.Errorf("%d children with %d elements in %d bytes, counted %d in %d", in.n, count, bytes, in.count, in.bytes)
	}
	return nil
}

// check verifies a page.
func (p *seqPage) check() error {
	n, found, off := 0, 0, int(p.from)
	used := map[byte]bool{}
	for ; off < int(p.to); n++ {
		if number := p.base + n; number%markEvery == 0 {
			if found >= len(p.marks) || int(p.marks[found]) != off {
				return fmt.Errorf("element %d at %d is not at mark %d of %v", n, off, found, p.marks)
			}
			found++
		}
		if p.buf[off] == tagBlob {
			used[p.buf[off+1]] = true
		}
		off += elemSize(p.buf[off:])
	}
	if off != int(p.to) || n != int(p.n) || found != len(p.marks) {
		return fmt.Errorf("%d elements up to %d with %d marks, counted %d up to %d with %d", n, off, found, p.n, p.to, len(p.marks))
	}
	return p.checkBlobs(used)
}

func (p *seqPage) checkBlobs(used map[byte]bool) error {
	n, bytes := 0, int64(0)
	if p.blobs != nil {
		for i, b := range p.blobs.slots {
			if (b != nil) != used[byte(i)] {
				return fmt.Errorf("blob %d is there: %v; used: %v", i, b != nil, used[byte(i)])
			}
			if b != nil {
				n++
				bytes += int64(cap(b))
			}
		}
	}
	if n != len(used) || p.blobs != nil && (n != p.blobs.n || bytes != p.blobs.bytes) {
		return fmt.Errorf("%d blobs, %d used", n, len(used))
	}
	return nil
}
