import CoreDataSource
import Foundation

/// Predicates with everything that the macro accepts, with random values.
func predicates(_ values: inout RandomValues) -> [Predicate<EveryType>] {
    textPredicates(&values) + numberPredicates(&values) + optionalPredicates(&values) + otherPredicates(&values)
        + listPredicates(&values) + zeroPredicates(&values) + calculatedPredicates(&values) + countPredicates(&values)
        + askedPredicates(&values)
}

private func textPredicates(_ values: inout RandomValues) -> [Predicate<EveryType>] {
    let (a, b) = (values.text(), values.text())
    return [
        #Predicate { $0.stringRequired == a },
        #Predicate { $0.stringRequired != a },
        #Predicate { $0.stringRequired < a },
        #Predicate { $0.stringRequired <= a },
        #Predicate { $0.stringRequired > a },
        #Predicate { a >= $0.stringRequired },
        #Predicate { $0.stringRequired.contains(a) },
        #Predicate { $0.stringRequired.starts(with: a) },
        #Predicate { a.contains($0.stringRequired) },
        #Predicate { a.starts(with: $0.stringRequired) },
        #Predicate { $0.stringRequired.isEmpty },
        #Predicate { $0.stringOptional == a },
        #Predicate { $0.stringOptional != a },
        #Predicate { $0.stringOptional?.contains(a) == true },
        #Predicate { $0.stringOptional?.contains(a) != true },
        #Predicate { $0.stringOptional?.starts(with: a) ?? false },
        #Predicate { ($0.stringOptional ?? a) == b },
        #Predicate { ($0.stringOptional ?? "") > b },
        #Predicate { $0.stringOptional?.isEmpty == false },
        #Predicate { $0.stringRequired.contains(a) && !$0.stringRequired.starts(with: b) },
    ]
}

private func numberPredicates(_ values: inout RandomValues) -> [Predicate<EveryType>] {
    let (a, b, wide) = (values.small(), values.small(), values.large())
    let (real, float, short) = (values.real(), Float(values.real()), Int16(values.small()))
    let (low, high) = (min(a, b), max(a, b))
    return [
        #Predicate { $0.integer32Required == a },
        #Predicate { $0.integer32Required != a },
        #Predicate { $0.integer32Required < a },
        #Predicate { $0.integer32Zero < a },
        #Predicate { $0.integer32Zero >= a },
        #Predicate { $0.integer32Zero == a },
        #Predicate { $0.integer32Zero != a },
        #Predicate { (low...high).contains($0.integer32Zero) },
        #Predicate { (low..<high).contains($0.integer32Zero) },
        #Predicate { $0.integer64Required > wide },
        #Predicate { $0.integer64Optional == wide },
        #Predicate { ($0.integer64Optional ?? wide) <= wide },
        #Predicate { $0.integer16Required + short > 2 },
        #Predicate { $0.integer32Required * a - b == 3 },
        #Predicate { $0.integer32Required / 2 == a },
        #Predicate { $0.integer32Required % 3 == a },
        #Predicate { -$0.integer32Required > a },
        #Predicate { $0.doubleRequired == real },
        #Predicate { $0.doubleZero < real },
        #Predicate { $0.doubleOptional != real },
        #Predicate { $0.doubleRequired / 2 + real > 0.5 },
        #Predicate { $0.floatRequired == float },
        #Predicate { $0.floatRequired < float },
        #Predicate { $0.floatRequired * 2 > float },
    ]
}

private func optionalPredicates(_ values: inout RandomValues) -> [Predicate<EveryType>] {
    let (a, flag, wide) = (values.small(), values.pick([true, false, nil]), values.large())
    return [
        #Predicate { $0.stringOptional == nil },
        #Predicate { $0.integer64Optional != nil },
        #Predicate { $0.booleanOptional == flag },
        #Predicate { $0.booleanOptional != flag },
        #Predicate { $0.booleanOptional ?? true },
        #Predicate { $0.booleanZero },
        #Predicate { !$0.booleanZero },
        #Predicate { $0.booleanZero == ($0.integer32Required > a) },
        #Predicate { $0.integer64Optional != nil && $0.integer64Optional! > wide },
        #Predicate { $0.integer64Optional.flatMap { $0 > wide } == true },
        #Predicate { $0.integer64Optional.flatMap { $0 > wide } == nil },
        #Predicate { if let number = $0.integer64Optional { number > wide } else { $0.integer32Required == a } },
        #Predicate { $0.booleanRequired ? $0.integer32Required > a : $0.integer32Zero < a },
        #Predicate { ($0.booleanRequired ? $0.integer32Required : $0.integer32Zero) == a },
        #Predicate { !($0.stringOptional == nil || $0.integer64Optional == wide) },
    ]
}

private func otherPredicates(_ values: inout RandomValues) -> [Predicate<EveryType>] {
    let (day, uuid, url, bytes) = (values.day(), values.uuid(), values.url(), values.bytes())
    let number = values.number()
    return [
        #Predicate { $0.dateRequired < day },
        #Predicate { $0.dateOptional == day },
        #Predicate { ($0.dateOptional ?? day) >= day },
        #Predicate { $0.uuidRequired == uuid },
        #Predicate { $0.uuidRequired < uuid },
        #Predicate { $0.uuidOptional != uuid },
        #Predicate { $0.uriRequired == url },
        #Predicate { $0.uriOptional == url },
        #Predicate { $0.binaryRequired == bytes },
        #Predicate { $0.binaryOptional != bytes },
        #Predicate { $0.decimalRequired == number },
        #Predicate { $0.decimalRequired < number },
        #Predicate { $0.decimalOptional == number },
        #Predicate { $0.decimalRequired + number > 1 },
    ]
}

private func listPredicates(_ values: inout RandomValues) -> [Predicate<EveryType>] {
    let texts = (0..<3).map { _ in values.text() }
    let numbers = (0..<3).map { _ in values.small() }
    let optionals = texts.map { Optional($0) } + [nil]
    let set = Set(texts)
    return [
        #Predicate { texts.contains($0.stringRequired) },
        #Predicate { !set.contains($0.stringRequired) },
        #Predicate { optionals.contains($0.stringOptional) },
        #Predicate { numbers.contains($0.integer32Zero) },
        #Predicate { object in texts.contains { object.stringRequired.contains($0) } },
        #Predicate { object in texts.allSatisfy { $0 != object.stringRequired } },
        #Predicate { object in numbers.contains { $0 < object.integer32Required } && object.booleanRequired },
    ]
}

/// Lists and ranges with zeros of both signs, and attributes that are read as zero where they hold nothing.
private func zeroPredicates(_ values: inout RandomValues) -> [Predicate<EveryType>] {
    let (x, y, day) = (values.real(), values.real(), values.day())
    let (least, most) = (min(x, y), max(x, y))
    let (doubles, zeros, decimals) = ([x, y, -0.0], [-0.0], [values.number(), 0])
    let floats = [Float(values.real()), -0.0]
    let (days, flags) = ([day, Date(timeIntervalSinceReferenceDate: -0.0)], [values.pick([true, false])])
    let optionals = [x, nil]
    return [
        #Predicate { zeros.contains($0.doubleZero) },
        #Predicate { doubles.contains($0.doubleZero) },
        #Predicate { !doubles.contains($0.doubleRequired) },
        #Predicate { floats.contains($0.floatRequired) },
        #Predicate { floats.contains($0.floatZero) },
        #Predicate { decimals.contains($0.decimalRequired) },
        #Predicate { days.contains($0.dateRequired) },
        #Predicate { flags.contains($0.booleanZero) },
        #Predicate { optionals.contains($0.doubleOptional) },
        #Predicate { (least...most).contains($0.doubleZero) },
        #Predicate { object in zeros.contains { $0 == object.doubleZero } },
    ]
}

/// Numbers that may be none, or infinite.
private func calculatedPredicates(_ values: inout RandomValues) -> [Predicate<EveryType>] {
    let (x, y, zero) = (values.real(), values.real(), 0.0)
    let optionals = [x, nil]
    return [
        #Predicate { $0.doubleRequired / zero > x },
        #Predicate { $0.doubleRequired / x == y },
        #Predicate { $0.doubleRequired / $0.doubleZero <= x },
        #Predicate { $0.doubleRequired - $0.doubleRequired == $0.doubleRequired - $0.doubleRequired },
        #Predicate { $0.doubleRequired * x != y },
        #Predicate { $0.doubleOptional.flatMap { $0 * zero } == $0.doubleOptional },
        #Predicate { $0.doubleRequired - x <= $0.doubleZero * y },
        #Predicate { !($0.doubleRequired - x <= $0.doubleZero * y) },
        #Predicate { ($0.doubleOptional ?? x) / y >= x },
        #Predicate { -$0.doubleRequired == x },
        #Predicate { ($0.doubleOptional.flatMap { $0 * zero } ?? 5) == 5 },
        #Predicate { $0.doubleOptional.flatMap { $0 - x } == nil },
        #Predicate { optionals.contains($0.doubleOptional.flatMap { $0 * zero }) },
        #Predicate { ($0.booleanRequired ? $0.doubleRequired * zero : x) == ($0.booleanRequired ? x * zero : y) },
    ]
}

/// Partly or wholly asked of the objects.
/// The numbers of characters and bytes.
private func countPredicates(_ values: inout RandomValues) -> [Predicate<EveryType>] {
    let (a, text) = (values.small(), values.text())
    let (count, counts, most) = (Int(a) % 4, [0, Int(a) % 3, 2], abs(Int(a) % 5))
    return [
        #Predicate { $0.stringRequired.count > count },
        #Predicate { $0.integer32Required > a && $0.stringRequired.count > 1 },
        #Predicate { $0.stringRequired.count + 1 > count || $0.booleanRequired },
        #Predicate { $0.stringOptional?.count == count },
        #Predicate { !($0.stringRequired.count == count && $0.integer32Required == a) },
        #Predicate { $0.binaryRequired.count > count },
        #Predicate { ($0.stringOptional ?? text).count * 2 == count },
        #Predicate { $0.binaryOptional?.count ?? -1 <= count },
        #Predicate { $0.stringRequired.count == text.count },
        #Predicate { $0.stringRequired.count == $0.binaryRequired.count },
        #Predicate { counts.contains($0.stringRequired.count) },
        #Predicate { (-1...most).contains($0.stringRequired.count) },
    ]
}

private func askedPredicates(_ values: inout RandomValues) -> [Predicate<EveryType>] {
    let (a, text) = (values.small(), values.text())
    let count = Int(a)
    return [
        #Predicate { $0.stringRequired.utf8.count > count },
        #Predicate { $0.integer32Required > a && $0.stringRequired.utf8.count > 1 },
        #Predicate { $0.stringRequired.utf8.count + 1 > count || $0.booleanRequired },
        #Predicate { $0.stringOptional?.utf8.count == count },
        #Predicate { !($0.stringRequired.utf8.count == count && $0.integer32Required == a) },
        #Predicate { $0.binaryRequired.count > count },
        #Predicate { $0.isDeleted || $0.stringRequired == text },
    ]
}
