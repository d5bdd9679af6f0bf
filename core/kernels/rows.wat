;; Writes rows of a date and a number: see rows-kernel.ts. `make kernel` assembles this file into rows.json.
(module
  (import "m" "m" (memory 0))
  (func (export "f")
    (param $from i32) (param $to i32) (param $day i32) (param $stride i32) (param $out i32)
    (param $between_bytes i32) (param $next_bytes i32)
    (result i32)
    (local $decade i32) (local $rest i32) (local $middle i32) (local $low i32) (local $first i32)
    (local $digits i64) (local $top i64)
    (local $value f64) (local $scaled f64) (local $rounded f64)
    (local $between v128) (local $next v128)

    (local.set $between (v128.load offset=40384 align=1 (i32.const 0)))
    (local.set $next (v128.load offset=40400 align=1 (i32.const 0)))
    (local.set $decade (i32.const 96)) ;; that of 1, as the offset of its entries of 8 bytes

    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $from) (local.get $to)))
        (local.set $value (f64.load align=1 (local.get $from)))

        ;; Starts from the decade of the previous row: neighbouring numbers of a series are similar. The borders at
        ;; both ends are NaN, which no number is beyond. For NaN any decade will do.
        (block $not_below
          (loop $lower
            (br_if $not_below
              (i32.eqz (f64.lt (f64.abs (local.get $value)) (f64.load offset=40000 align=1 (local.get $decade)))))
            (local.set $decade (i32.add (local.get $decade) (i32.const -8)))
            (br $lower)))
        (block $not_above
          (loop $higher
            (br_if $not_above
              (i32.eqz (f64.ge (f64.abs (local.get $value)) (f64.load offset=40008 align=1 (local.get $decade)))))
            (local.set $decade (i32.add (local.get $decade) (i32.const 8)))
            (br $higher)))

        ;; Nothing of a row is written before it is certain that all of it can be. The scaled number carries an error of
        ;; half a unit in its last place, under 1e-6 for numbers below 1e10: closer than 1e-5 to a tie it is not known
        ;; which way to round.
        (local.set $scaled
          (f64.mul (f64.abs (local.get $value)) (f64.load offset=40192 align=1 (local.get $decade))))
        (local.set $rounded (f64.nearest (local.get $scaled)))
        (br_if $done
          (i32.eqz
            (f64.le (f64.abs (f64.sub (local.get $scaled) (local.get $rounded))) (f64.const 0.49999))))
        ;; Ten digits, or 0. Below all decades there are nine, which must not be rounded to ten; beyond them and after
        ;; rounding up, eleven. False for NaN.
        (br_if $done
          (i32.eqz
            (i32.or
              (i32.and
                (f64.ge (local.get $scaled) (f64.const 1e9))
                (f64.lt (local.get $rounded) (f64.const 1e10)))
              (f64.eq (local.get $value) (f64.const 0)))))

        (v128.store align=1 (local.get $out) (v128.load align=1 (local.get $day)))
        (local.set $out (i32.add (local.get $out) (i32.const 10)))
        (v128.store align=1 (local.get $out) (local.get $between))
        (local.set $out (i32.add (local.get $out) (local.get $between_bytes)))

        (if (f64.eq (local.get $value) (f64.const 0))
          (then
            (i32.store8 (local.get $out) (i32.const 48)) ;; 0
            (local.set $out (i32.add (local.get $out) (i32.const 1))))
          (else
            (i32.store8 (local.get $out) (i32.const 45)) ;; -, which the next byte replaces if the number is positive
            (local.set $out (i32.add (local.get $out) (f64.lt (local.get $value) (f64.const 0))))

            (if (i32.lt_u (local.get $decade) (i32.const 96))
              (then
                ;; `0.`, a zero for each decade below that of 0.1, and the digits.
                (i64.store align=1 (local.get $out) (i64.const 0x3030303030302e30))
                (i64.store offset=8 align=1 (local.get $out) (i64.const 0x3030303030303030))
                (local.set $first
                  (i32.add
                    (local.get $out)
                    (i32.shr_u (i32.sub (i32.const 104) (local.get $decade)) (i32.const 3))))

                ;; Ten digits at `first`: two and twice four. The text of every number below 10 000 is at address 0.
                (local.set $digits (i64.trunc_sat_f64_s (local.get $rounded)))
                (local.set $top (i64.div_u (local.get $digits) (i64.const 100000000)))
                (local.set $rest
                  (i32.wrap_i64
                    (i64.sub (local.get $digits) (i64.mul (local.get $top) (i64.const 100000000)))))
                (local.set $middle (i32.div_u (local.get $rest) (i32.const 10000)))
                (local.set $low (i32.sub (local.get $rest) (i32.mul (local.get $middle) (i32.const 10000))))
                (i32.store16 align=1
                  (local.get $first)
                  (i32.shr_u
                    (i32.load align=1 (i32.shl (i32.wrap_i64 (local.get $top)) (i32.const 2)))
                    (i32.const 16)))
                (i32.store offset=2 align=1
                  (local.get $first)
                  (i32.load align=1 (i32.shl (local.get $middle) (i32.const 2))))
                (i32.store offset=6 align=1
                  (local.get $first)
                  (i32.load align=1 (i32.shl (local.get $low) (i32.const 2)))))
              (else
                ;; The digits one byte late, as above.
                (local.set $first (i32.add (local.get $out) (i32.const 1)))
                (local.set $digits (i64.trunc_sat_f64_s (local.get $rounded)))
                (local.set $top (i64.div_u (local.get $digits) (i64.const 100000000)))
                (local.set $rest
                  (i32.wrap_i64
                    (i64.sub (local.get $digits) (i64.mul (local.get $top) (i64.const 100000000)))))
                (local.set $middle (i32.div_u (local.get $rest) (i32.const 10000)))
                (local.set $low (i32.sub (local.get $rest) (i32.mul (local.get $middle) (i32.const 10000))))
                (i32.store16 align=1
                  (local.get $first)
                  (i32.shr_u
                    (i32.load align=1 (i32.shl (i32.wrap_i64 (local.get $top)) (i32.const 2)))
                    (i32.const 16)))
                (i32.store offset=2 align=1
                  (local.get $first)
                  (i32.load align=1 (i32.shl (local.get $middle) (i32.const 2))))
                (i32.store offset=6 align=1
                  (local.get $first)
                  (i32.load align=1 (i32.shl (local.get $low) (i32.const 2))))

                ;; Then those of the integer part move forward, before the point.
                (local.set $rest (local.get $decade))
                (loop $move
                  (i32.store8 (local.get $out) (i32.load8_u offset=1 (local.get $out)))
                  (local.set $out (i32.add (local.get $out) (i32.const 1)))
                  (local.set $rest (i32.add (local.get $rest) (i32.const -8)))
                  (br_if $move (i32.ge_u (local.get $rest) (i32.const 96))))
                (i32.store8 (local.get $out) (i32.const 46)))) ;; the point

            ;; Moves `out` back over zeros at the end, and over the point if no digit follows it.
            (local.set $out (i32.add (local.get $first) (i32.const 10)))
            (if (i32.eq (i32.load8_u (i32.sub (local.get $out) (i32.const 1))) (i32.const 48))
              (then
                (loop $trim
                  (local.set $out (i32.add (local.get $out) (i32.const -1)))
                  (br_if $trim
                    (i32.eq (i32.load8_u (i32.sub (local.get $out) (i32.const 1))) (i32.const 48))))
                (local.set $out
                  (i32.sub
                    (local.get $out)
                    (i32.eq (i32.load8_u (i32.sub (local.get $out) (i32.const 1))) (i32.const 46))))))))

        (v128.store align=1 (local.get $out) (local.get $next))
        (local.set $out (i32.add (local.get $out) (local.get $next_bytes)))
        (local.set $day (i32.add (local.get $day) (local.get $stride)))
        (local.set $from (i32.add (local.get $from) (i32.const 8)))
        (br $row)))

    (i32.store offset=40416 align=1 (i32.const 0) (local.get $out))
    (local.get $from)))
