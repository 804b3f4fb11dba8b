# Reads a release of holdfast in R, with nothing but base R.
#
#   source("holdfast.R")
#   release <- hf_read("release")        # checks the sums of all files
#   release$table                        # the released table, a data frame
#   release$target                       # z, the private distribution of counts, from 0 on
#   hf_row(release, 3)                   # what a true count of 3 may be published as;
#                                        # of a release by group hf_row(release, 3, group = 2)
#   hf_intervals(release)                # for every row, what its true count may be, at any level
#   release$intervals                    # the same at 90%, from intervals.csv
#   release$groups, release$totals       # of a release by group, or with measured totals
#   release$columns$deaths               # of a release of several counts, that of one of them
#
# docs/bundle.md describes the files. This reader checks that they are whole; `holdfast verify`
# checks what they claim.

# ---- the release ---------------------------------------------------------------------------------

hf_read <- function(folder) {
  hf_check_sums(folder)
  record <- hf_json(paste(readLines(file.path(folder, "release.json"), encoding = "UTF-8"),
                          collapse = "\n"))
  if (!(record$schema %in% 2:5))
    stop("this reader knows bundles of schema 2 to 5; this one is of schema ", record$schema)
  if (!is.null(record$counts)) return(hf_read_several(folder, record))
  own <- any(file.exists(file.path(folder, c("table.csv", "table.parquet"))))
  table <- hf_table(if (own) folder else hf_above(folder), record)
  column <- if (is.null(record$count_column)) "count" else record$count_column
  counts <- suppressWarnings(as.integer(as.character(table[[column]])))
  table[[column]] <- counts
  marks <- function(name)
    if (is.null(record[[name]])) NULL else hf_marks(record[[name]], nrow(table))
  out <- rep(FALSE, nrow(table))
  for (name in c("structural_zero_rows", "missing_rows"))
    if (!is.null(marks(name))) out <- out | marks(name)
  groups <- hf_groups(folder)
  structure(list(
    groups = groups, totals = record$totals, member = hf_members(groups, table, record, out),
    table = table, counts = counts, target = hf_shares(record$target), record = record,
    epsilon = record$privacy$epsilon, promise = record$privacy$promise,
    simulated = record$privacy$simulated, notes = unlist(record$notes),
    known_zero = marks("structural_zero_rows"), missing = marks("missing_rows"),
    intervals = hf_read_intervals(folder), mechanism = hf_mechanism(folder, record)),
    class = "holdfast")
}

# Several counts: one table, one promise, and for each column a release of its own.
hf_read_several <- function(folder, record) {
  columns <- lapply(record$counts, function(place) hf_read(file.path(folder, place$folder)))
  names(columns) <- vapply(record$counts, function(place) place$column, "")
  table <- hf_table(folder, record)
  for (name in names(columns)) table[[name]] <- columns[[name]]$counts
  structure(list(
    columns = columns, table = table, record = record, epsilon = record$privacy$epsilon,
    promise = record$privacy$promise, simulated = record$privacy$simulated,
    notes = unlist(record$notes)), class = "holdfast_several")
}

# The folder of all columns, which has their table.
hf_above <- function(folder) {
  above <- dirname(normalizePath(folder))
  hf_check_sums(above)
  above
}

print.holdfast <- function(x, ...) {
  if (isTRUE(x$simulated)) cat("SIMULATION: a seed made this release; it protects nobody.\n")
  cat(sprintf("A private table of counts: %s rows, counts 0 to %d, %s\n",
              format(x$record$rows, big.mark = ","), length(x$target) - 1L, x$promise))
  invisible(x)
}

print.holdfast_several <- function(x, ...) {
  if (isTRUE(x$simulated)) cat("SIMULATION: a seed made this release; it protects nobody.\n")
  cat(sprintf("A private table of several counts (%s): %s rows, %s in all\n",
              paste(names(x$columns), collapse = ", "), format(nrow(x$table), big.mark = ","),
              x$promise))
  invisible(x)
}

# The share of rows with each released count, without rows that are publicly known to be zero.
hf_distribution <- function(release) {
  counts <- release$counts[!is.na(release$counts)]
  shares <- tabulate(counts + 1L, nbins = length(release$target))
  shares[1] <- shares[1] - release$record$structural_zeros
  shares / release$record$rows
}

hf_check_sums <- function(folder) {
  lines <- strsplit(readLines(file.path(folder, "SHA256SUMS")), "  ", fixed = TRUE)
  for (line in lines) {
    if (!identical(hf_sha256(file.path(folder, line[2])), line[1]))
      stop("`", line[2], "` is damaged: its sum is not the one in SHA256SUMS")
  }
  named <- vapply(lines, `[`, "", 2)
  known <- sub("/.*", "", named)          # the folder of a column has sums of its own
  left <- setdiff(list.files(folder), c(known, "SHA256SUMS", "Thumbs.db", "desktop.ini"))
  if (length(left)) stop("`", left[1], "` does not belong to the release")
  invisible(TRUE)
}

# ---- what a released count says about the true one -----------------------------------------------

# The law of the true count of a row whose released count is `count`: z_i T_ij over its sum. Of a
# release by group, `group` is the row's group: its number in release$groups (release$member).
hf_posterior <- function(release, count, group = NULL) {
  if (!isTRUE(release$record$fixed_point))
    stop("intervals of a release without a stage 1 need holdfast itself")
  joint <- hf_prior(release, group) * hf_matrix(release, group)[, count + 1]
  joint / hf_sum(joint)
}

# What is known of a row before its released count is looked at: z; where z is unsure, with a little
# of every count, and of a group with a little of the whole table's z.
hf_prior <- function(release, group = NULL) {
  z <- hf_target(release, group)
  if (is.null(release$groups)) {
    mixed <- hf_stated(release)$mixed
    return((1 - mixed) * z + mixed / length(z))
  }
  privacy <- release$record$privacy
  spent <- hf_fraction(privacy$stage_1) / privacy$steps
  if (nrow(release$groups) > 100) spent <- spent * 4 / 5
  noise <- sqrt(2) / spent
  part <- 0.5 * noise / (noise + release$groups$rows[hf_group(release, group)])
  (1 - part) * z + part * release$target
}

# What release.json says of intervals; of releases that have none, z is taken for the truth.
hf_stated <- function(release) {
  stated <- release$record$intervals
  if (is.null(stated)) list(mixed = 0, every = FALSE) else stated
}

hf_fraction <- function(text) {
  parts <- as.numeric(strsplit(text, "/", fixed = TRUE)[[1]])
  if (length(parts) > 1) parts[1] / parts[2] else parts[1]
}

# For every released count, the first and the last true count for which it is nothing unusual:
# those before it in the order of T_ij / (pT)_j have less than the level.
hf_taken <- function(release, level, group = NULL) {
  shares <- hf_matrix(release, group)
  made <- pmax(colSums(hf_prior(release, group) * shares), 1e-300)
  ratio <- sweep(shares, 2, made, "/")
  vapply(seq_len(ncol(shares)), function(j) {
    ahead <- rowSums(shares * (ratio > ratio[, j] * (1 + 1e-9)))
    range(which(ahead < max(level - 1e-9, min(ahead) + 1e-9))) - 1
  }, c(0, 0))
}

# z, of one group where there are some.
hf_target <- function(release, group = NULL) {
  m <- release$mechanism
  if (is.null(m$parts)) release$target else m$parts[[m$index[hf_group(release, group)]]]$target
}

# For every row: the shortest run of true counts with at least the probability `level`, or where the
# rows are too few for z to be known, the counts for which its released one is nothing unusual; what
# to expect, the median and the probability of 0. The same as `release.intervals(level)` in Python.
hf_intervals <- function(release, level = 0.9) {
  n <- length(release$target)
  kinds <- release$counts
  if (!is.null(release$known_zero)) kinds[release$known_zero] <- n
  share <- if (is.null(release$known_zero) && release$record$structural_zeros > 0)
    release$record$structural_zeros / sum(kinds == 0, na.rm = TRUE) else 0
  member <- if (is.null(release$member)) rep(1, length(kinds)) else release$member
  member[is.na(member)] <- 1
  seen <- unique(data.frame(kind = kinds, group = member)[!is.na(kinds), ])
  laws <- Map(function(kind, group) {
    zero <- as.numeric(seq_len(n) == 1)
    if (kind == n) return(zero)
    if (kind == 0 && share > 0)
      return(if (share < 1) share * zero + (1 - share) * hf_posterior(release, 0, group) else zero)
    hf_posterior(release, kind, group)
  }, seen$kind, seen$group)
  ends <- vapply(laws, hf_shortest_run, c(0, 0), level = level)
  if (isTRUE(hf_stated(release)$every)) {
    drawn <- seen$kind < n
    ends[, drawn] <- hf_taken(release, level)[, seen$kind[drawn] + 1]
  }
  at <- match(paste(kinds, member), paste(seen$kind, seen$group))
  data.frame(
    low = ends[1, at], high = ends[2, at],
    expected = round(vapply(laws, function(p) sum(p * (seq_along(p) - 1)), 0), 3)[at],
    median = vapply(laws, function(p) sum(hf_cumulate(p) < 0.5 - 1e-12), 0)[at],
    probability_zero = round(vapply(laws, `[`, 0, 1), 4)[at])
}

hf_shortest_run <- function(law, level) {
  below <- c(0, hf_cumulate(law))
  needed <- below[-length(below)] + level * below[length(below)]
  ends <- findInterval(needed - 1e-9, below, left.open = TRUE)
  starts <- which(ends < length(below))
  lengths <- ends[starts] - starts
  short <- starts[lengths == min(lengths)]
  best <- short[which.max(below[ends[short] + 1] - below[short])]
  c(best - 1, ends[best] - 1)
}

# Sums in double precision in numpy's order; R's own use more digits, and differ in the last one.
hf_cumulate <- function(x) Reduce(`+`, x, accumulate = TRUE)

hf_sum <- function(x) {
  n <- length(x)
  if (n < 8) return(Reduce(`+`, x))
  if (n > 128) {
    half <- n %/% 2
    half <- half - half %% 8
    return(hf_sum(x[seq_len(half)]) + hf_sum(x[(half + 1):n]))
  }
  whole <- n - n %% 8
  lanes <- matrix(x[seq_len(whole)], nrow = 8)
  r <- apply(lanes, 1, function(lane) Reduce(`+`, lane))
  total <- ((r[1] + r[2]) + (r[3] + r[4])) + ((r[5] + r[6]) + (r[7] + r[8]))
  if (whole < n) for (value in x[(whole + 1):n]) total <- total + value
  total
}

# ---- the mechanism: exact integers of 62 bits, as limbs of 24 bits, lowest first -------------------

# Row i of T: the probability of every published count for a true count of i.
hf_row <- function(release, i, group = NULL) hf_double(hf_weights(release, i, group)) / 2^62

# All of T: as much memory as n x n numbers take.
hf_matrix <- function(release, group = NULL) {
  cache <- hf_part(release, group)$cache
  if (is.null(cache$matrix)) {
    counts <- seq_along(release$target) - 1
    rows <- vapply(counts, function(i) hf_row(release, i, group), numeric(length(counts)))
    cache$matrix <- t(rows)
  }
  cache$matrix
}

# Row i as exact integers, in decimal digits; their sum is 2^62.
hf_row_integers <- function(release, i, group = NULL) {
  apply(hf_weights(release, i, group), 2, hf_digits)
}

# The mechanism of a group; of the table, where there are none.
hf_part <- function(release, group) {
  m <- release$mechanism
  if (is.null(m$parts)) m else m$parts[[m$index[hf_group(release, group)]]]
}

# The number of a group, which must be said: each has a mechanism of its own.
hf_group <- function(release, group) {
  last <- length(release$mechanism$index)
  if (is.null(group)) stop("`group` is missing: this release is by group; give its number, 1 to ", last)
  if (!(length(group) == 1 && group %in% seq_len(last)))
    stop("`group` must be the number of a group, 1 to ", last, " as in release$groups")
  group
}

# A matrix of three limbs by n outputs.
hf_weights <- function(release, i, group = NULL) {
  m <- hf_part(release, group)
  n <- length(release$target)
  if (i < 0 || i >= n || i != round(i)) stop("`i` must be a count from 0 to ", n - 1)
  if (!is.null(m$weights)) return(m$weights[, (0:(n - 1)) * n + i + 1, drop = FALSE])
  right <- i >= m$turns
  height <- m$heights
  height[, !right] <- hf_carry(m$keep - m$heights[, !right, drop = FALSE])
  power <- m$powers[, abs(i - m$turns) + 1, drop = FALSE]
  tail <- hf_carry(hf_times_shift(hf_carry(height + m$lift), power) - m$lift)
  tail[, tail[3, ] < 0] <- 0
  tail[, !right] <- hf_carry(m$keep - tail[, !right, drop = FALSE])
  below <- cbind(c(0, 0, 0), tail[, -n, drop = FALSE])
  hf_carry(tail - below + m$floors)
}

hf_mechanism <- function(folder, record) {
  n <- record$max_count + 1
  place <- function(kind) file.path(folder, paste0("mechanism.", kind))
  if (file.exists(place("weights"))) return(hf_read_weights(place("weights"), n))
  powers <- hf_powers(record$certificate$epsilon, n)
  if (file.exists(place("groups"))) return(hf_read_groups(place("groups"), n, powers))
  data <- hf_inflate(place("curves"), 2L, 24 * n)
  hf_curves(hf_limbs(data$bytes), hf_limbs(data$head[17:24])[, 1], powers)
}

hf_curves <- function(numbers, lift, powers) {
  n <- ncol(numbers) / 3
  floors <- numbers[, 2 * n + seq_len(n), drop = FALSE]
  keep <- c(0, 0, 2^14)
  for (b in seq_len(n)) keep <- hf_carry(matrix(keep - floors[, b]))[, 1]
  list(turns = hf_double(numbers[, seq_len(n), drop = FALSE]),
       heights = numbers[, n + seq_len(n), drop = FALSE], floors = floors, keep = keep,
       lift = lift, powers = powers, cache = new.env())
}

# A mechanism for each group: K that differ, which of them each group has, their curves, their z;
# in version 4 the law of what is released stands before z, which is another one there.
hf_read_groups <- function(path, n, powers) {
  data <- hf_inflate(path, 3:4, NA)
  before <- if (data$version == 4) 1 else 0
  groups <- hf_double(hf_limbs(data$head[17:24]))
  number <- function(at) hf_limbs(data$bytes[8 * (at[1] - 1) + seq_len(8 * length(at))])
  kinds <- hf_double(number(1))
  index <- hf_double(number(1 + seq_len(groups))) + 1
  start <- 1 + groups
  parts <- lapply(seq_len(kinds), function(k) {
    part <- hf_curves(number(start + (k - 1) * 3 * n + seq_len(3 * n)), c(0, 0, 0), powers)
    from <- 8 * (start + kinds * 3 * n + ((k - 1) * (1 + before) + before) * n)
    part$target <- readBin(data$bytes[from + seq_len(8 * n)], "double", n, endian = "little")
    part
  })
  list(parts = parts, index = index)
}

# The weights of a mechanism that is not made of curves: columns of folded differences.
hf_read_weights <- function(path, n) {
  bytes <- as.integer(hf_inflate(path, 1L, 8 * n * n)$bytes)
  weights <- matrix(0, 3, n * n)
  for (j in seq_len(n) - 1L) {
    planes <- matrix(bytes[8 * j * n + seq_len(8 * n)], nrow = n)
    odd <- planes[, 1] %% 2 == 1
    folded <- rbind(planes[, 1] + 256 * planes[, 2] + 65536 * planes[, 3],
                    planes[, 4] + 256 * planes[, 5] + 65536 * planes[, 6],
                    planes[, 7] + 256 * planes[, 8])
    folded[1, ] <- folded[1, ] + odd
    half <- rbind(folded[1, ] %/% 2 + (folded[2, ] %% 2) * 2^23,
                  folded[2, ] %/% 2 + (folded[3, ] %% 2) * 2^23, folded[3, ] %/% 2)
    half[, odd] <- -half[, odd]
    sums <- t(apply(half, 1, cumsum))
    weights[, j * n + seq_len(n)] <- hf_carry(matrix(sums, nrow = 3))
  }
  list(weights = weights, cache = new.env())
}

hf_inflate <- function(path, versions, size) {
  data <- readBin(path, "raw", file.size(path))
  head <- data[1:32]
  version <- readBin(head[9:12], "integer", size = 4, endian = "little")
  sound <- rawToChar(head[1:8]) == "holdfast" && version %in% versions
  bytes <- if (sound) memDecompress(data[-(1:32)], type = "gzip")
  if (!sound || (!is.na(size) && length(bytes) != size)) stop("`", basename(path), "` cannot be read")
  list(head = head, bytes = bytes, version = version)
}

# 64-bit little-endian integers, not negative, as limbs.
hf_limbs <- function(bytes) {
  b <- matrix(as.numeric(as.integer(bytes)), nrow = 8)
  rbind(b[1, ] + 256 * b[2, ] + 65536 * b[3, ], b[4, ] + 256 * b[5, ] + 65536 * b[6, ],
        b[7, ] + 256 * b[8, ])
}

# Limbs brought into 0 ... 2^24 - 1, all but the highest, which keeps the sign.
hf_carry <- function(limbs) {
  for (k in seq_len(nrow(limbs) - 1)) {
    over <- floor(limbs[k, ] / 2^24)
    limbs[k, ] <- limbs[k, ] - over * 2^24
    limbs[k + 1, ] <- limbs[k + 1, ] + over
  }
  limbs
}

# floor(a b / 2^62), column by column.
hf_times_shift <- function(a, b) {
  product <- matrix(0, 6, ncol(a))
  for (k in 1:3) for (l in 1:3) product[k + l - 1, ] <- product[k + l - 1, ] + a[k, ] * b[l, ]
  product <- hf_carry(product)
  hf_carry(rbind(floor(product[3, ] / 2^14) + (product[4, ] %% 2^14) * 2^10,
                 floor(product[4, ] / 2^14) + (product[5, ] %% 2^14) * 2^10,
                 floor(product[5, ] / 2^14) + product[6, ] * 2^10))
}

# One rounding, to the nearest double.
hf_double <- function(limbs) (limbs[3, ] * 2^24 + limbs[2, ]) * 2^24 + limbs[1, ]

hf_digits <- function(limbs) {
  parts <- integer(0)
  while (any(limbs > 0)) {
    rest <- 0
    for (k in length(limbs):1) {
      value <- rest * 2^24 + limbs[k]
      limbs[k] <- floor(value / 1e7)
      rest <- value - limbs[k] * 1e7
    }
    parts <- c(rest, parts)
  }
  if (!length(parts)) return("0")
  paste0(sprintf("%d", parts[1]), paste(sprintf("%07d", parts[-1]), collapse = ""))
}

# ---- floor(2^62 exp(-epsilon d)) to the last digit ------------------------------------------------

hf_powers <- function(epsilon, n) {
  size <- 12                                 # limbs: 288 bits behind the point
  one <- c(numeric(size), 1)
  parts <- strsplit(epsilon, "/", fixed = TRUE)[[1]]
  top <- hf_big(parts[1])
  bottom <- hf_big(if (length(parts) > 1) parts[2] else "1")
  x <- hf_big_divide(c(numeric(size), top), bottom)
  halvings <- 0
  while (length(x) > size || (length(x) == size && x[size] >= 2^20)) {
    x <- hf_big_divide(x, 2)
    halvings <- halvings + 1
  }
  plus <- term <- one
  minus <- 0
  for (k in 1:80) {                          # exp(-x) = 1 - x + x^2/2 - ...
    term <- hf_big_divide(hf_big_times(term, x)[-seq_len(size)], k)
    if (!length(term)) break
    if (k %% 2) minus <- hf_big_add(minus, term) else plus <- hf_big_add(plus, term)
  }
  base <- hf_big_subtract(plus, minus)
  for (k in seq_len(halvings)) base <- hf_big_times(base, base)[-seq_len(size)]
  found <- matrix(0, 3, n)
  power <- one
  for (d in seq_len(n)) {
    shifted <- hf_big_times(power, c(0, 0, 2^14))
    whole <- c(shifted[-seq_len(size)], 0, 0, 0)[1:3]
    near <- c(shifted, numeric(size))[3:size]  # the digits behind, but for the last two limbs
    if (d > 1 && (all(near == 0) || all(near == 2^24 - 1)) && any(whole > 0))
      stop("a power of e is too close to a whole number")
    found[, d] <- whole
    if (all(whole == 0)) break
    power <- hf_big_times(power, base)[-seq_len(size)]
  }
  found
}

# Whole numbers of any size: limbs of 24 bits, lowest first, no zeros at the end.
hf_trim <- function(x) { while (length(x) && x[length(x)] == 0) x <- x[-length(x)]; x }

hf_big <- function(digits) {
  x <- numeric(0)
  for (digit in as.numeric(strsplit(digits, "")[[1]])) x <- hf_big_add(hf_big_times(x, 10), digit)
  x
}

hf_settle <- function(x) {
  x <- c(x, 0, 0)
  for (k in seq_len(length(x) - 1)) {
    over <- floor(x[k] / 2^24)
    x[k] <- x[k] - over * 2^24
    x[k + 1] <- x[k + 1] + over
  }
  hf_trim(x)
}

hf_big_times <- function(a, b) {
  if (!length(a) || !length(b)) return(numeric(0))
  product <- numeric(length(a) + length(b))
  for (k in seq_along(b)) {
    at <- k - 1 + seq_along(a)
    product[at] <- product[at] + a * b[k]
  }
  hf_settle(product)
}

hf_big_add <- function(a, b) {
  size <- max(length(a), length(b))
  hf_settle(c(a, numeric(size - length(a))) + c(b, numeric(size - length(b))))
}

hf_big_subtract <- function(a, b) {
  size <- max(length(a), length(b))
  hf_settle(c(a, numeric(size - length(a))) - c(b, numeric(size - length(b))))
}

hf_big_divide <- function(a, b) {
  if (length(b) > 1) return(hf_big_long_divide(a, b))
  rest <- 0
  for (k in length(a):1) {
    value <- rest * 2^24 + a[k]
    a[k] <- floor(value / b)
    rest <- value - a[k] * b
  }
  hf_trim(a)
}

# Bit by bit.
hf_big_long_divide <- function(a, b) {
  quotient <- rest <- numeric(0)
  for (k in length(a):1) for (bit in 23:0) {
    rest <- hf_big_add(hf_big_times(rest, 2), (a[k] %/% 2^bit) %% 2)
    quotient <- hf_big_times(quotient, 2)
    left <- hf_compare(rest, b)
    if (left >= 0) {
      rest <- hf_big_subtract(rest, b)
      quotient <- hf_big_add(quotient, 1)
    }
  }
  hf_trim(quotient)
}

hf_compare <- function(a, b) {
  a <- hf_trim(a)
  b <- hf_trim(b)
  if (length(a) != length(b)) return(sign(length(a) - length(b)))
  differs <- which(a != b)
  if (!length(differs)) 0 else sign(a[max(differs)] - b[max(differs)])
}

# ---- files -----------------------------------------------------------------------------------------

hf_table <- function(folder, record) {
  path <- file.path(folder, "table.csv")
  if (!file.exists(path)) {
    if (!requireNamespace("arrow", quietly = TRUE))
      stop("table.parquet needs the package arrow; the steward can save the release as CSV")
    return(as.data.frame(arrow::read_parquet(file.path(folder, "table.parquet"))))
  }
  start <- readBin(path, "raw", 3)
  wide <- identical(start[1:2], as.raw(c(255, 254))) || identical(start[1:2], as.raw(c(254, 255)))
  code <- if (wide) "UTF-16" else if (identical(start, as.raw(c(239, 187, 191)))) "UTF-8-BOM" else "UTF-8"
  text <- file(path, encoding = code)
  on.exit(close(text))
  header <- gsub('"[^"]*"', "", readLines(text, n = 1, warn = FALSE))
  marks <- c(",", ";", "\t", "|")
  often <- vapply(marks, function(m) sum(strsplit(header, "")[[1]] == m), 0)
  table <- read.table(file(path, encoding = code), sep = marks[which.max(often)], header = TRUE,
                      colClasses = "character", check.names = FALSE, quote = '"',
                      comment.char = "", na.strings = character(0), fill = FALSE,
                      blank.lines.skip = FALSE)
  names(table) <- unlist(record$columns)
  table
}

# groups.csv, where there is one: labels, rows and, where they were measured, totals.
hf_groups <- function(folder) {
  path <- file.path(folder, "groups.csv")
  if (!file.exists(path)) return(NULL)
  table <- read.csv(path, colClasses = "character", check.names = FALSE, na.strings = character(0),
                    encoding = "UTF-8")
  for (name in intersect(names(table), c("rows", "total", "total_low", "total_high", "total_measured")))
    table[[name]] <- as.numeric(table[[name]])
  table
}

# intervals.csv, where there is one: what the true count of each row may be, at 90%.
hf_read_intervals <- function(folder) {
  path <- file.path(folder, "intervals.csv")
  if (!file.exists(path)) return(NULL)
  table <- read.csv(path, colClasses = "character", check.names = FALSE, na.strings = character(0),
                    encoding = "UTF-8")
  for (name in c("released", "expected", "low", "high"))
    table[[name]] <- suppressWarnings(as.numeric(table[[name]]))
  table
}

# The number of every row's group in groups.csv; NA for rows that are in none.
hf_members <- function(groups, table, record, out) {
  if (is.null(groups)) return(NULL)
  columns <- unlist(record$within$columns)
  classes <- record$within$classes
  keys <- lapply(seq_along(columns), function(k) {
    cells <- as.character(table[[columns[k]]])
    number <- unlist(classes[k])
    if (is.null(number) || is.na(number)) return(cells)
    values <- as.numeric(cells[!out])
    class <- floor(number * (rank(values, ties.method = "min") - 1) / length(values))
    labels <- rep(NA_character_, length(cells))
    ends <- function(f) cells[!out][tapply(seq_along(values), class, function(at) at[f(values[at])])]
    names <- paste(ends(which.min), "to", ends(which.max))
    labels[!out] <- names[match(class, sort(unique(class)))]
    labels
  })
  paste_all <- function(parts) do.call(paste, c(parts, sep = "\r"))
  found <- match(paste_all(keys), paste_all(unname(as.list(groups[seq_along(columns)]))))
  found[out] <- NA
  if (anyNA(found[!out])) stop("a row of the table is in no group of groups.csv")
  found
}

hf_marks <- function(text, rows) {
  letters64 <- c(LETTERS, letters, 0:9, "+", "/")
  six <- match(strsplit(gsub("=", "", text), "")[[1]], letters64) - 1L
  bits <- as.vector(vapply(six, function(v) bitwAnd(bitwShiftR(v, 5:0), 1L), integer(6)))
  bits[seq_len(rows)] == 1
}

# z: numbers, or of long ranges their doubles, deflated, in Base64.
hf_shares <- function(stated) {
  if (!is.character(stated)) return(as.numeric(stated))
  letters64 <- c(LETTERS, letters, 0:9, "+", "/")
  six <- match(strsplit(gsub("=", "", stated), "")[[1]], letters64) - 1L
  fours <- matrix(c(six, integer(-length(six) %% 4)), nrow = 4)
  whole <- 262144L * fours[1, ] + 4096L * fours[2, ] + 64L * fours[3, ] + fours[4, ]
  bytes <- as.raw(rbind(whole %/% 65536L, (whole %/% 256L) %% 256L, whole %% 256L))
  numbers <- memDecompress(bytes[seq_len((3 * length(six)) %/% 4)], type = "gzip")
  readBin(numbers, "double", length(numbers) / 8, endian = "little")
}

hf_json <- function(text) {
  found <- gregexpr('"(?:[^"\\\\]++|\\\\.)*+"|-?[0-9][0-9.eE+-]*|true|false|null|[][{},:]', text,
                    perl = TRUE)
  tokens <- regmatches(text, found)[[1]]
  at <- 0
  take <- function() { at <<- at + 1; tokens[at] }
  value <- function() {
    token <- take()
    if (token == "{") return(members())
    if (token == "[") return(items())
    if (token == "true") return(TRUE)
    if (token == "false") return(FALSE)
    if (token == "null") return(NULL)
    if (substr(token, 1, 1) == '"') return(hf_text(token))
    as.numeric(token)
  }
  members <- function() {
    found <- list()
    while (tokens[at + 1] != "}") {
      if (tokens[at + 1] == ",") take()
      name <- hf_text(take())
      take()
      found[name] <- list(value())
    }
    take()
    found
  }
  items <- function() {
    close <- at + 1
    while (tokens[close] != "]" && !(tokens[close] %in% c("{", "["))) close <- close + 1
    if (tokens[close] == "]" && !any(substr(tokens[(at + 1):close], 1, 1) == '"')) {
      plain <- tokens[(at + 1):close]
      at <<- close
      return(suppressWarnings(as.numeric(plain[!(plain %in% c(",", "]"))])))
    }
    found <- list()
    while (tokens[at + 1] != "]") {
      if (tokens[at + 1] == ",") take()
      found[length(found) + 1] <- list(value())
    }
    take()
    found
  }
  value()
}

hf_text <- function(token) {
  inside <- substr(token, 2, nchar(token) - 1)
  if (!grepl("\\", inside, fixed = TRUE)) return(inside)
  parts <- regmatches(inside, gregexpr("\\\\u[0-9a-fA-F]{4}|\\\\.|[^\\\\]+", inside))[[1]]
  plain <- c(n = "\n", t = "\t", r = "\r", b = "\b", f = "\f")
  pending <- NULL
  text <- ""
  for (part in parts) {
    if (startsWith(part, "\\u")) {
      unit <- strtoi(substr(part, 3, 6), 16L)
      if (unit >= 0xD800 && unit < 0xDC00) { pending <- unit; next }
      if (!is.null(pending)) unit <- (pending - 0xD800) * 1024 + (unit - 0xDC00) + 0x10000
      pending <- NULL
      part <- intToUtf8(unit)
    } else if (startsWith(part, "\\")) {
      letter <- substr(part, 2, 2)
      part <- if (letter %in% names(plain)) plain[[letter]] else letter
    }
    text <- paste0(text, part)
  }
  text
}

# ---- sums: R has SHA-256 from 4.5 on; before that, what the system has -----------------------------

hf_sha256 <- function(path) {
  if (exists("sha256sum", envir = asNamespace("tools")))
    return(unname(get("sha256sum", envir = asNamespace("tools"))(path)))
  for (tool in list("sha256sum", c("shasum", "-a", "256"), c("openssl", "dgst", "-r", "-sha256"))) {
    if (nzchar(Sys.which(tool[1]))) {
      said <- system2(tool[1], c(tool[-1], shQuote(path)), stdout = TRUE)
      return(regmatches(said, regexpr("[0-9a-f]{64}", said)))
    }
  }
  stop("the sums cannot be checked: they need R 4.5, or sha256sum, shasum or openssl on the path")
}
