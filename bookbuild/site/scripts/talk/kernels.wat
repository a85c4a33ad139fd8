;; The products of kernels.mjs in WebAssembly's vectors of 128 bits, on the file's own bytes.  All addresses are in
;; bytes.  A vector to be multiplied is first rounded, each block of 32 numbers to whole ones of 16 bits, int16, and two
;; float32: what one of them stands for, s, and the sum of what they stand for.  So a block of 32 weights times it is, but
;; for one product of floats, arithmetic of whole numbers:
;;
;;   Q4_1:  d · s · Σ number · int16 + m · sum          Q8_0:  d · s · Σ number · int16
;;
;; The sum is that of the rounded numbers, or the errors of the two terms would not cancel.  A float16 is read by moving
;; its bits to where a float32 has them; then its power is 112 too small.  Two blocks are multiplied at a time, so that the
;; four lanes of a vector read the float16 of both.  All this stands in the loops and in no function of its own, as a call
;; for each block takes as long as the block; and what is the same for all blocks is spread over four lanes before the
;; loops, as an engine makes a constant vector anew each time that it is used.
(module
  (import "model" "memory" (memory 1))

  ;; Round the numbers at x, `blocks` times 32 of them; write the whole ones, and the two floats of each block, $sums.
  (func (export "round") (param $x i32) (param $to i32) (param $sums i32) (param $blocks i32)
    (local $end i32) (local $most v128) (local $each v128) (local $sum v128) (local $whole v128)
    (loop $block
      ;; the largest of the 32, in all lanes: first four at a time, then across the lanes
      (local.set $most (v128.const f32x4 0 0 0 0))
      (local.set $end (i32.add (local.get $x) (i32.const 128)))
      (loop $four
        (local.set $most (f32x4.max (local.get $most) (f32x4.abs (v128.load (local.get $x)))))
        (br_if $four (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 16))) (local.get $end))))
      (local.set $most (f32x4.max (local.get $most)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $most) (local.get $most))))
      (local.set $most (f32x4.max (local.get $most)
        (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $most) (local.get $most))))

      ;; eight at a time as whole numbers; of 32 zeros each is made 0, as what is no number becomes
      (local.set $each (f32x4.div (v128.const f32x4 32767 32767 32767 32767) (local.get $most)))
      (local.set $sum (v128.const i32x4 0 0 0 0))
      (local.set $x (i32.sub (local.get $x) (i32.const 128)))
      (loop $eight
        (local.set $whole (i16x8.narrow_i32x4_s
          (i32x4.trunc_sat_f32x4_s (f32x4.nearest (f32x4.mul (local.get $each) (v128.load (local.get $x)))))
          (i32x4.trunc_sat_f32x4_s (f32x4.nearest (f32x4.mul (local.get $each) (v128.load offset=16 (local.get $x)))))))
        (local.set $sum (i32x4.add (local.get $sum)
          (i32x4.dot_i16x8_s (local.get $whole) (v128.const i16x8 1 1 1 1 1 1 1 1))))
        (v128.store (local.get $to) (local.get $whole))
        (local.set $to (i32.add (local.get $to) (i32.const 16)))
        (br_if $eight (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 32))) (local.get $end))))

      (local.set $each (f32x4.div (local.get $most) (v128.const f32x4 32767 32767 32767 32767)))
      (f32.store (local.get $sums) (f32x4.extract_lane 0 (local.get $each)))
      (f32.store offset=4 (local.get $sums)
        (call $across (f32x4.mul (local.get $each) (f32x4.convert_i32x4_s (local.get $sum)))))
      (local.set $sums (i32.add (local.get $sums) (i32.const 8)))
      (br_if $block (local.tee $blocks (i32.sub (local.get $blocks) (i32.const 1))))))

  ;; For each row of a Q4_1 matrix at w, which has so many pairs of blocks, write its product with the rounded x to y.
  (func (export "q4")
    (param $w i32) (param $x i32) (param $sums i32) (param $y i32) (param $rows i32) (param $pairs i32)
    (local $at i32) (local $end i32) (local $sum i32) (local $two v128) (local $low v128) (local $high v128)
    (local $scales v128) (local $products v128) (local $least v128)
    (local $nibble v128) (local $half v128) (local $power v128)
    (local.set $end (i32.add (local.get $x) (i32.mul (local.get $pairs) (i32.const 128))))
    (local.set $nibble (i8x16.splat (i32.const 0x0f)))
    (local.set $half (i32x4.splat (i32.const 0x8fffe000)))
    (local.set $power (f32x4.splat (f32.const 0x1p112)))
    (loop $row
      (local.set $at (local.get $x))
      (local.set $sum (local.get $sums))
      (local.set $products (v128.const f32x4 0 0 0 0))
      (local.set $least (v128.const f32x4 0 0 0 0))
      (loop $pair
        ;; lane 0: d · s, lane 1: m · sum; lanes 2 and 3: those of the second block
        (local.set $scales (f32x4.mul (v128.load (local.get $sum))
          (f32x4.mul (local.get $power)
            (v128.and (local.get $half)
              (i32x4.shl (i32x4.extend_low_i16x8_s
                (v128.load32_lane offset=20 1 (local.get $w) (v128.load32_zero (local.get $w)))) (i32.const 13))))))
        (local.set $least (f32x4.add (local.get $least) (local.get $scales)))
        ;; the low halves of the 16 bytes are weights 0 to 15, the high ones 16 to 31
        (local.set $two (v128.load offset=4 (local.get $w)))
        (local.set $low (v128.and (local.get $two) (local.get $nibble)))
        (local.set $high (i8x16.shr_u (local.get $two) (i32.const 4)))
        (local.set $products (f32x4.add (local.get $products) (f32x4.mul
          (i8x16.shuffle 0 1 2 3 0 1 2 3 0 1 2 3 0 1 2 3 (local.get $scales) (local.get $scales))
          (f32x4.convert_i32x4_s (i32x4.add
            (i32x4.add
              (i32x4.dot_i16x8_s (v128.load (local.get $at)) (i16x8.extend_low_i8x16_u (local.get $low)))
              (i32x4.dot_i16x8_s (v128.load offset=16 (local.get $at)) (i16x8.extend_high_i8x16_u (local.get $low))))
            (i32x4.add
              (i32x4.dot_i16x8_s (v128.load offset=32 (local.get $at)) (i16x8.extend_low_i8x16_u (local.get $high)))
              (i32x4.dot_i16x8_s (v128.load offset=48 (local.get $at)) (i16x8.extend_high_i8x16_u (local.get $high)))))))))
        ;; the second block
        (local.set $two (v128.load offset=24 (local.get $w)))
        (local.set $low (v128.and (local.get $two) (local.get $nibble)))
        (local.set $high (i8x16.shr_u (local.get $two) (i32.const 4)))
        (local.set $products (f32x4.add (local.get $products) (f32x4.mul
          (i8x16.shuffle 8 9 10 11 8 9 10 11 8 9 10 11 8 9 10 11 (local.get $scales) (local.get $scales))
          (f32x4.convert_i32x4_s (i32x4.add
            (i32x4.add
              (i32x4.dot_i16x8_s (v128.load offset=64 (local.get $at)) (i16x8.extend_low_i8x16_u (local.get $low)))
              (i32x4.dot_i16x8_s (v128.load offset=80 (local.get $at)) (i16x8.extend_high_i8x16_u (local.get $low))))
            (i32x4.add
              (i32x4.dot_i16x8_s (v128.load offset=96 (local.get $at)) (i16x8.extend_low_i8x16_u (local.get $high)))
              (i32x4.dot_i16x8_s (v128.load offset=112 (local.get $at)) (i16x8.extend_high_i8x16_u (local.get $high)))))))))
        (local.set $w (i32.add (local.get $w) (i32.const 40)))
        (local.set $sum (i32.add (local.get $sum) (i32.const 16)))
        (br_if $pair (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 128))) (local.get $end))))
      (f32.store (local.get $y) (f32.add (call $across (local.get $products))
        (f32.add (f32x4.extract_lane 1 (local.get $least)) (f32x4.extract_lane 3 (local.get $least)))))
      (local.set $y (i32.add (local.get $y) (i32.const 4)))
      (br_if $row (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; The same for a Q8_0 matrix, which has no least weight.
  (func (export "q8")
    (param $w i32) (param $x i32) (param $sums i32) (param $y i32) (param $rows i32) (param $pairs i32)
    (local $at i32) (local $end i32) (local $sum i32)
    (local $scales v128) (local $products v128) (local $half v128) (local $power v128)
    (local.set $end (i32.add (local.get $x) (i32.mul (local.get $pairs) (i32.const 128))))
    (local.set $half (i32x4.splat (i32.const 0x8fffe000)))
    (local.set $power (f32x4.splat (f32.const 0x1p112)))
    (loop $row
      (local.set $at (local.get $x))
      (local.set $sum (local.get $sums))
      (local.set $products (v128.const f32x4 0 0 0 0))
      (loop $pair
        ;; lanes 0 and 2: d · s of the two blocks
        (local.set $scales (f32x4.mul (v128.load (local.get $sum))
          (f32x4.mul (local.get $power)
            (v128.and (local.get $half)
              (i32x4.shl (i32x4.extend_low_i16x8_s
                (v128.load16_lane offset=34 2 (local.get $w) (v128.load16_splat (local.get $w)))) (i32.const 13))))))
        (local.set $products (f32x4.add (local.get $products) (f32x4.mul
          (i8x16.shuffle 0 1 2 3 0 1 2 3 0 1 2 3 0 1 2 3 (local.get $scales) (local.get $scales))
          (f32x4.convert_i32x4_s (i32x4.add
            (i32x4.add
              (i32x4.dot_i16x8_s (v128.load (local.get $at)) (v128.load8x8_s offset=2 (local.get $w)))
              (i32x4.dot_i16x8_s (v128.load offset=16 (local.get $at)) (v128.load8x8_s offset=10 (local.get $w))))
            (i32x4.add
              (i32x4.dot_i16x8_s (v128.load offset=32 (local.get $at)) (v128.load8x8_s offset=18 (local.get $w)))
              (i32x4.dot_i16x8_s (v128.load offset=48 (local.get $at)) (v128.load8x8_s offset=26 (local.get $w)))))))))
        (local.set $products (f32x4.add (local.get $products) (f32x4.mul
          (i8x16.shuffle 8 9 10 11 8 9 10 11 8 9 10 11 8 9 10 11 (local.get $scales) (local.get $scales))
          (f32x4.convert_i32x4_s (i32x4.add
            (i32x4.add
              (i32x4.dot_i16x8_s (v128.load offset=64 (local.get $at)) (v128.load8x8_s offset=36 (local.get $w)))
              (i32x4.dot_i16x8_s (v128.load offset=80 (local.get $at)) (v128.load8x8_s offset=44 (local.get $w))))
            (i32x4.add
              (i32x4.dot_i16x8_s (v128.load offset=96 (local.get $at)) (v128.load8x8_s offset=52 (local.get $w)))
              (i32x4.dot_i16x8_s (v128.load offset=112 (local.get $at)) (v128.load8x8_s offset=60 (local.get $w)))))))))
        (local.set $w (i32.add (local.get $w) (i32.const 68)))
        (local.set $sum (i32.add (local.get $sum) (i32.const 16)))
        (br_if $pair (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 128))) (local.get $end))))
      (f32.store (local.get $y) (call $across (local.get $products)))
      (local.set $y (i32.add (local.get $y) (i32.const 4)))
      (br_if $row (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; Write q · key for n keys, one `stride` bytes behind the other.
  (func (export "scores")
    (param $q i32) (param $keys i32) (param $out i32) (param $n i32) (param $width i32) (param $stride i32)
    (local $i i32) (local $sum v128)
    (local.set $width (i32.mul (local.get $width) (i32.const 4)))
    (loop $key
      (local.set $i (i32.const 0))
      (local.set $sum (v128.const f32x4 0 0 0 0))
      (loop $four
        (local.set $sum (f32x4.add (local.get $sum) (f32x4.mul
          (v128.load (i32.add (local.get $q) (local.get $i))) (v128.load (i32.add (local.get $keys) (local.get $i))))))
        (br_if $four (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $width))))
      (f32.store (local.get $out) (call $across (local.get $sum)))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (local.set $keys (i32.add (local.get $keys) (local.get $stride)))
      (br_if $key (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))

  ;; Write the sum of n values, each times its weight: four of their numbers, of all values, then the next four.
  (func (export "mix")
    (param $weights i32) (param $values i32) (param $out i32) (param $n i32) (param $width i32) (param $stride i32)
    (local $weight i32) (local $value i32) (local $end i32) (local $last i32) (local $sum v128)
    (local.set $end (i32.add (local.get $weights) (i32.mul (local.get $n) (i32.const 4))))
    (local.set $last (i32.add (local.get $out) (i32.mul (local.get $width) (i32.const 4))))
    (loop $four
      (local.set $weight (local.get $weights))
      (local.set $value (local.get $values))
      (local.set $sum (v128.const f32x4 0 0 0 0))
      (loop $place
        (local.set $sum (f32x4.add (local.get $sum)
          (f32x4.mul (v128.load32_splat (local.get $weight)) (v128.load (local.get $value)))))
        (local.set $value (i32.add (local.get $value) (local.get $stride)))
        (br_if $place (i32.lt_u (local.tee $weight (i32.add (local.get $weight) (i32.const 4))) (local.get $end))))
      (v128.store (local.get $out) (local.get $sum))
      (local.set $values (i32.add (local.get $values) (i32.const 16)))
      (br_if $four (i32.lt_u (local.tee $out (i32.add (local.get $out) (i32.const 16))) (local.get $last)))))

  ;; The sum of four lanes.
  (func $across (param $v v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $v)) (f32x4.extract_lane 1 (local.get $v)))
      (f32.add (f32x4.extract_lane 2 (local.get $v)) (f32x4.extract_lane 3 (local.get $v))))))
