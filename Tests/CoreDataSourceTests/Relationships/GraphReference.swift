import CoreDataSource

/// The expected graph, as dictionaries: the model that the random operations are compared with.
struct GraphReference: Equatable {
    enum Kind: String, CaseIterable {
        case topic, letter, person, label, folder, attachment, passport, cat, dog, station, tour
    }

    /// Which object that is.
    struct Name: Hashable, CustomStringConvertible {
        let kind: Kind
        let key: String

        init(_ kind: Kind, _ key: String) { (self.kind, self.key) = (kind, key) }

        var description: String { "\(kind) \(key)" }
    }

    /// The keys of each kind.
    var objects: [String: Set<String>] = [:]

    /// The name, the title or the subject of each object, as "topic 3", that has one.
    var texts: [String: String] = [:]
    var topic: [String: String] = [:]
    var author: [String: String] = [:]
    var reader: [String: String] = [:]
    var holder: [String: String] = [:]
    /// Of each animal, as "Cat 3".
    var keeper: [String: String] = [:]
    /// The animal, as "Cat 3", that each dog chases.
    var chased: [String: String] = [:]
    var place: [String: String] = [:]
    var parent: [String: String] = [:]
    var spouse: [String: String] = [:]
    var friends: [String: Set<String>] = [:]
    /// The companions of each person, in their order.
    var companions: [String: [String]] = [:]
    var filed: [String: Set<String>] = [:]
    /// The letters of each label, in their order.
    var labeled: [String: [String]] = [:]
    /// The attachments of each letter, in their order.
    var attached: [String: [String]] = [:]

    /// The stations of each tour, in their order.
    var stops: [String: [String]] = [:]
    /// The tours of each station, in their order.
    var tours: [String: [String]] = [:]
    /// The stations of each tour that nobody knows the tours of, in their order.
    var detours: [String: [String]] = [:]
    /// The links that No Action left to what is gone, as "Cat 3.keeper".
    var dangling: Set<String> = []

    enum Refusal: Equatable {
        case denied
        case invalid
    }

    func keys(_ kind: Kind) -> Set<String> { objects[kind.rawValue] ?? [] }

    mutating func insert(_ name: Name) { objects[name.kind.rawValue, default: []].insert(name.key) }

    /// Takes an object out, without its links.
    mutating func remove(_ name: Name) {
        objects[name.kind.rawValue]?.remove(name.key)
        texts["\(name)"] = nil
    }

    func contains(_ name: Name) -> Bool { keys(name.kind).contains(name.key) }

    /// The animals, as "Cat 3".
    private var animals: Set<String> {
        Set(keys(.cat).map { "Cat \($0)" }).union(keys(.dog).map { "Dog \($0)" })
    }

    // MARK: Links

    mutating func keep(_ animal: String, by person: String?) {
        keeper[animal] = person
        dangling.remove("\(animal).keeper")
    }

    mutating func put(_ letter: String, at station: String?) {
        place[letter] = station
        dangling.remove("Letter \(letter).place")
    }

    mutating func stop(_ tour: String, at station: String, _ isStop: Bool) {
        stops[tour, default: []].change(station, isIn: isStop)
        tours[station, default: []].change(tour, isIn: isStop)
    }

    mutating func setStops(_ list: [String], of tour: String) {
        for station in tours.keys where !list.contains(station) { tours[station]?.change(tour, isIn: false) }
        for station in list { tours[station, default: []].change(tour, isIn: true) }
        stops[tour] = list
    }

    mutating func setTours(_ list: [String], of station: String) {
        for tour in stops.keys where !list.contains(tour) { stops[tour]?.change(station, isIn: false) }
        for tour in list { stops[tour, default: []].change(station, isIn: true) }
        tours[station] = list
    }

    mutating func marry(_ one: String, _ other: String?) {
        for person in [one, other].compactMap({ $0 }) {
            if let before = spouse.removeValue(forKey: person) { spouse[before] = nil }
        }
        guard let other else { return }
        spouse[one] = other
        spouse[other] = one
    }

    mutating func befriend(_ one: String, _ other: String, _ isFriend: Bool) {
        for (person, friend) in [(one, other), (other, one)] {
            if isFriend { friends[person, default: []].insert(friend) } else { friends[person]?.remove(friend) }
        }
    }

    mutating func accompany(_ one: String, _ other: String, _ isCompanion: Bool) {
        for (person, companion) in [(one, other), (other, one)] {
            companions[person, default: []].change(companion, isIn: isCompanion)
        }
    }

    mutating func setCompanions(_ list: [String], of one: String) {
        for other in companions.keys where other != one && !list.contains(other) {
            companions[other]?.change(one, isIn: false)
        }
        for other in list where other != one { companions[other, default: []].change(one, isIn: true) }
        companions[one] = list
    }

    mutating func hold(_ passport: String, by person: String?) {
        holder[passport] = nil
        guard let person else { return }
        for (other, owner) in holder where owner == person { holder[other] = nil }
        holder[passport] = person
    }

    mutating func attach(_ attachment: String, to letter: String?) {
        if let letter, attached[letter]?.contains(attachment) == true { return }
        for owner in attached.keys { attached[owner]?.removeAll { $0 == attachment } }
        if let letter { attached[letter, default: []].append(attachment) }
    }

    mutating func setAttachments(_ list: [String], of letter: String) {
        for owner in attached.keys { attached[owner]?.removeAll { list.contains($0) } }
        attached[letter] = list
    }

    mutating func label(_ letter: String, _ label: String, _ isLabeled: Bool) {
        let holds = labeled[label]?.contains(letter) == true
        if isLabeled, !holds { labeled[label, default: []].append(letter) }
        if !isLabeled { labeled[label]?.removeAll { $0 == letter } }
    }

    // MARK: Deleting

    /// Applies the delete rules to what a batch has deleted.
    mutating func delete(_ names: [Name]) -> Refusal? {
        var waiting = names
        var gone: Set<Name> = []
        while let name = waiting.popLast() {
            guard gone.insert(name).inserted else { continue }
            remove(name)
            waiting += cascade(name)
        }
        let letters = keys(.letter)
        if author.contains(where: { letters.contains($0.key) && gone.contains(Name(.person, $0.value)) }) {
            return .denied
        }
        recordDanglingLinks()
        removeLinksOfDeletedObjects()
        removeListsOfDeletedObjects()
        return refusal
    }

    /// Takes out what the cascades of a batch's deletions reach, as the next query does. All other rules wait for the end of the
    /// batch, when ``delete(_:)`` applies them.
    mutating func removeCascades(of names: [Name]) {
        var waiting = names.flatMap(cascade)
        while let name = waiting.popLast() {
            if names.contains(name) || objects[name.kind.rawValue]?.remove(name.key) == nil { continue }
            waiting += cascade(name)
            forgetLinks(of: name)
        }
    }

    /// Another object may get the key.
    private mutating func forgetLinks(of name: Name) {
        let key = name.key
        texts["\(name)"] = nil
        switch name.kind {
        case .letter:
            (topic[key], author[key], reader[key], place[key], attached[key]) = (nil, nil, nil, nil, nil)
            dangling.remove("Letter \(key).place")
            filed = filed.mapValues { $0.subtracting([key]) }
            labeled = labeled.mapValues { $0.filter { $0 != key } }
        case .attachment: attached = attached.mapValues { $0.filter { $0 != key } }
        case .folder: (parent[key], filed[key]) = (nil, nil)
        case .passport: holder[key] = nil
        default: break
        }
    }

    /// What is deleted with that object.
    private func cascade(_ name: Name) -> [Name] {
        func ends(_ links: [String: String], _ kind: Kind) -> [Name] {
            links.filter { $0.value == name.key }.map { Name(kind, $0.key) }
        }
        return switch name.kind {
        case .topic: ends(topic, .letter)
        case .letter: (attached[name.key] ?? []).map { Name(.attachment, $0) }
        case .folder: ends(parent, .folder)
        case .person: ends(holder, .passport)
        default: []
        }
    }

    /// No Action leaves a link that leads nowhere, as long as the object that has it is there.
    private mutating func recordDanglingLinks() {
        for (animal, person) in keeper where !keys(.person).contains(person) { dangling.insert("\(animal).keeper") }
        for (letter, station) in place where !keys(.station).contains(station) {
            dangling.insert("Letter \(letter).place")
        }
        let sources = Set(animals.map { "\($0).keeper" }).union(keys(.letter).map { "Letter \($0).place" })
        dangling.formIntersection(sources)
    }

    private mutating func removeLinksOfDeletedObjects() {
        func kept(_ links: [String: String], _ sources: Set<String>, _ ends: Set<String>) -> [String: String] {
            links.filter { sources.contains($0.key) && ends.contains($0.value) }
        }
        let (letters, persons, folders) = (keys(.letter), keys(.person), keys(.folder))
        topic = kept(topic, letters, keys(.topic))
        author = kept(author, letters, persons)
        reader = kept(reader, letters, persons)
        holder = kept(holder, keys(.passport), persons)
        keeper = kept(keeper, animals, persons)
        chased = kept(chased, keys(.dog), animals)
        place = kept(place, letters, keys(.station))
        parent = kept(parent, folders, folders)
        spouse = kept(spouse, persons, persons)
    }

    private mutating func removeListsOfDeletedObjects() {
        func kept(_ lists: [String: [String]], _ source: Kind, _ end: Kind) -> [String: [String]] {
            let (sources, ends) = (keys(source), keys(end))
            return lists.filter { sources.contains($0.key) }.mapValues { $0.filter(ends.contains) }
        }
        func kept(_ sets: [String: Set<String>], _ source: Kind, _ end: Kind) -> [String: Set<String>] {
            let (sources, ends) = (keys(source), keys(end))
            return sets.filter { sources.contains($0.key) }.mapValues { $0.intersection(ends) }
        }
        friends = kept(friends, .person, .person)
        companions = kept(companions, .person, .person)
        filed = kept(filed, .folder, .letter)
        labeled = kept(labeled, .label, .letter)
        attached = kept(attached, .letter, .attachment)
        stops = kept(stops, .tour, .station)
        tours = kept(tours, .station, .tour)
        detours = kept(detours, .tour, .station)
    }

    /// Why a save of this must be refused.
    private var refusal: Refusal? {
        let crowded = Dictionary(grouping: keeper.values) { $0 }.contains { $1.count > 3 }
        return crowded || keys(.passport).contains { holder[$0] == nil } ? .invalid : nil
    }

    /// What differs, each part with its value and the expected one.
    func differences(from expected: GraphReference) -> [String] {
        zip(Mirror(reflecting: self).children, Mirror(reflecting: expected).children).compactMap { own, other in
            let (found, wanted) = (GraphReference.text(own.value), GraphReference.text(other.value))
            return found == wanted ? nil : "\(own.label ?? ""): \(found) and not \(wanted)"
        }
    }

    private static func text(_ value: Any) -> String {
        if let keys = value as? Set<String> { return "\(keys.sorted())" }
        var lines: [String] = []
        if let links = value as? [String: String] { lines = links.map { "\($0) \($1)" } }
        if let links = value as? [String: [String]] { lines = links.map { "\($0) \($1)" } }
        if let links = value as? [String: Set<String>] { lines = links.map { "\($0) \($1.sorted())" } }
        return "\(lines.sorted())"
    }

    /// Without what is empty, so that two of them can be compared.
    var compacted: GraphReference {
        var copy = self
        copy.texts = texts.filter { !$0.value.isEmpty }
        copy.friends = friends.filter { !$0.value.isEmpty }
        copy.companions = companions.filter { !$0.value.isEmpty }
        copy.filed = filed.filter { !$0.value.isEmpty }
        copy.labeled = labeled.filter { !$0.value.isEmpty }
        copy.attached = attached.filter { !$0.value.isEmpty }
        copy.stops = stops.filter { !$0.value.isEmpty }
        copy.tours = tours.filter { !$0.value.isEmpty }
        copy.detours = detours.filter { !$0.value.isEmpty }
        copy.objects = objects.filter { !$0.value.isEmpty }
        return copy
    }
}
