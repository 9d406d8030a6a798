import CoreDataSource
import TestSupport

/// One edit of a graph, of the reference and of a context alike. What it names is made where it is missing.
struct GraphOperation: Sendable {
    private enum Kind: CaseIterable {
        case setTopic, changeLettersOfTopic, insertIntoTopic, setAuthor, setReader, hold, keepCat, keepDog, chase
        case moveFolder, marry, befriend, accompany, setCompanions, file, changeLabels, changeLettersOfLabel,
            setLettersOfLabel
        case attach, setAttachments, setPlace, changeLettersOfStation
        case changeStops, changeTours, setStops, setTours, changeDetours, setDetours
        case delete, rollback

        /// Each of them, and deletions more often.
        static let drawn = allCases + Array(repeating: .delete, count: 5)
    }

    private let kind: Kind
    private let keys: [String]
    private let flag: Bool
    private let deletedKind: GraphReference.Kind

    init(_ random: inout SeededRandom) {
        kind = Kind.drawn.randomElement(using: &random) ?? .delete
        keys = (0..<4).map { _ in "\(Int.random(in: 0..<5, using: &random))" }
        flag = Bool.random(using: &random)
        deletedKind = GraphReference.Kind.allCases.randomElement(using: &random) ?? .topic
    }

    /// Dogs have keys of their own: a key of Animal is unique among cats and dogs.
    private func dogKey(_ key: String) -> String { "d\(key)" }

    private var deletedKey: String { deletedKind == .dog ? dogKey(keys[0]) : keys[0] }

    private var distinct: [String] {
        keys.dropFirst().reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The objects that the operation is about, made where they are missing.
    private var uses: [GraphReference.Name] {
        typealias Name = GraphReference.Name
        let (one, other) = (keys[0], keys[1])
        func names(_ kind: GraphReference.Kind, _ end: GraphReference.Kind) -> [Name] {
            [Name(kind, one), Name(end, other)]
        }
        func lists(_ kind: GraphReference.Kind, _ end: GraphReference.Kind) -> [Name] {
            [Name(kind, one)] + distinct.map { Name(end, $0) }
        }
        return switch kind {
        case .setTopic, .changeLettersOfTopic, .insertIntoTopic: names(.letter, .topic)
        case .setAuthor, .setReader: names(.letter, .person)
        case .hold: names(.passport, .person)
        case .keepCat: names(.cat, .person)
        case .keepDog: [Name(.dog, dogKey(one)), Name(.person, other)]
        case .chase: [Name(.dog, dogKey(one)), flag ? Name(.cat, other) : Name(.dog, dogKey(other))]
        case .moveFolder: names(.folder, .folder)
        case .marry, .befriend, .accompany: names(.person, .person)
        case .setCompanions: lists(.person, .person)
        case .file: names(.folder, .letter)
        case .changeLabels, .changeLettersOfLabel: names(.letter, .label)
        case .setLettersOfLabel: lists(.label, .letter)
        case .attach: names(.attachment, .letter)
        case .setAttachments: lists(.letter, .attachment)
        case .setPlace, .changeLettersOfStation: names(.letter, .station)
        case .changeStops, .changeTours, .changeDetours: names(.tour, .station)
        case .setStops, .setDetours: lists(.tour, .station)
        case .setTours: lists(.station, .tour)
        case .delete, .rollback: []
        }
    }
}

// MARK: - The reference

extension GraphOperation {
    /// - Returns: Whether it was applied: what was deleted in the same batch is not touched again.
    func apply(
        to graph: inout GraphReference, _ deleted: inout [GraphReference.Name], from saved: GraphReference
    ) -> Bool {
        let (one, other) = (keys[0], keys[1])
        if uses.contains(where: deleted.contains) { return false }
        // It begins with a query, unless it takes everything back.
        graph.removeCascades(of: deleted)
        for name in uses { graph.insert(name) }
        switch kind {
        case .setTopic: graph.topic[one] = flag ? other : nil
        case .changeLettersOfTopic:
            if flag { graph.topic[one] = other } else if graph.topic[one] == other { graph.topic[one] = nil }
        case .insertIntoTopic: graph.topic[one] = other
        case .setAuthor: graph.author[one] = flag ? other : nil
        case .setReader: graph.reader[one] = flag ? other : nil
        case .hold: graph.hold(one, by: other)
        case .keepCat: graph.keep("Cat \(one)", by: flag ? other : nil)
        case .keepDog: graph.keep("Dog \(dogKey(one))", by: flag ? other : nil)
        case .chase:
            graph.chased[dogKey(one)] = one == other ? nil : flag ? "Cat \(other)" : "Dog \(dogKey(other))"
        case .moveFolder: graph.parent[one] = flag ? other : nil
        case .marry: graph.marry(one, flag && one != other ? other : nil)
        case .befriend: graph.befriend(one, other, flag)
        case .accompany: graph.accompany(one, other, flag)
        case .setCompanions: graph.setCompanions(distinct, of: one)
        case .file:
            if flag { graph.filed[one, default: []].insert(other) } else { graph.filed[one]?.remove(other) }
        case .changeLabels, .changeLettersOfLabel: graph.label(one, other, flag)
        case .setLettersOfLabel: graph.labeled[one] = distinct
        case .attach: graph.attach(one, to: flag ? other : nil)
        case .setAttachments: graph.setAttachments(distinct, of: one)
        case .setPlace: graph.put(one, at: flag ? other : nil)
        case .changeLettersOfStation: if flag || graph.place[one] == other { graph.put(one, at: flag ? other : nil) }
        case .changeStops, .changeTours: graph.stop(one, at: other, flag)
        case .setStops: graph.setStops(distinct, of: one)
        case .setTours: graph.setTours(distinct, of: one)
        case .changeDetours: graph.detours[one, default: []].change(other, isIn: flag)
        case .setDetours: graph.detours[one] = distinct
        case .delete: deleted.append(GraphReference.Name(deletedKind, deletedKey))
        case .rollback: (graph, deleted) = (saved, [])
        }
        return true
    }
}

// MARK: - A context

extension GraphOperation {
    func apply(to context: PrivateContext) throws {
        switch kind {
        case .setTopic, .changeLettersOfTopic, .insertIntoTopic, .setAuthor, .setReader, .setPlace,
            .changeLettersOfStation:
            try linkLetter(context)
        case .hold, .keepCat, .keepDog, .chase, .marry, .befriend, .accompany, .setCompanions, .moveFolder, .file:
            try linkOthers(context)
        case .changeLabels, .changeLettersOfLabel, .setLettersOfLabel, .attach, .setAttachments:
            try changeLists(context)
        case .changeStops, .changeTours, .setStops, .setTours, .changeDetours, .setDetours:
            try changeTours(context)
        case .delete: try context.delete(deletedKind, deletedKey)
        case .rollback: context.rollback()
        }
    }

    private func linkLetter(_ context: PrivateContext) throws {
        let letter = try context.letter(keys[0])
        let other = keys[1]
        switch kind {
        case .setTopic:
            let topic = try context.topic(other)
            letter.topic = flag ? topic : nil
        case .changeLettersOfTopic:
            let topic = try context.topic(other)
            if flag { topic.letters.insert(letter) } else { topic.letters.remove(letter) }
        case .insertIntoTopic: try context.topic(other).letters.insert(letter)
        case .setAuthor:
            let person = try context.person(other)
            letter.author = flag ? person : nil
        case .setReader:
            let person = try context.person(other)
            letter.readBy = flag ? person : nil
        case .setPlace:
            let station = try context.station(other)
            letter.place = flag ? station : nil
        default:
            let station = try context.station(other)
            if flag { station.letters.insert(letter) } else { station.letters.remove(letter) }
        }
    }

    private func linkOthers(_ context: PrivateContext) throws {
        let (one, other) = (keys[0], keys[1])
        switch kind {
        case .hold:
            let (passport, person) = (try context.passport(one), try context.person(other))
            if flag { passport.holder = person } else { person.passport = passport }
        case .keepCat, .keepDog:
            let animal: Animal = try kind == .keepCat ? context.cat(one) : context.dog(dogKey(one))
            let person = try context.person(other)
            if flag { person.animals.insert(animal) } else { animal.keeper = nil }
        case .chase:
            let dog = try context.dog(dogKey(one))
            let animal: Animal = try flag ? context.cat(other) : context.dog(dogKey(other))
            dog.chasing = one == other ? nil : animal
        case .marry:
            let (person, spouse) = (try context.person(one), try context.person(other))
            person.spouse = flag && one != other ? spouse : nil
        case .befriend:
            let (person, friend) = (try context.person(one), try context.person(other))
            if flag { person.friends.insert(friend) } else { person.friends.remove(friend) }
        case .accompany:
            let (person, companion) = (try context.person(one), try context.person(other))
            person.companions.change(companion, isIn: flag)
        case .setCompanions: try context.person(one).companions = distinct.map(context.person)
        case .moveFolder:
            let (folder, parent) = (try context.folder(one), try context.folder(other))
            folder.parent = flag ? parent : nil
        default:
            let (folder, letter) = (try context.folder(one), try context.letter(other))
            if flag { folder.letters.insert(letter) } else { folder.letters.remove(letter) }
        }
    }

    private func changeLists(_ context: PrivateContext) throws {
        let (one, other) = (keys[0], keys[1])
        switch kind {
        case .changeLabels:
            let (letter, label) = (try context.letter(one), try context.label(other))
            if flag { letter.labels.insert(label) } else { letter.labels.remove(label) }
        case .changeLettersOfLabel:
            let (letter, label) = (try context.letter(one), try context.label(other))
            label.letters.change(letter, isIn: flag)
        case .setLettersOfLabel: try context.label(one).letters = distinct.map(context.letter)
        case .attach:
            let (attachment, letter) = (try context.attachment(one), try context.letter(other))
            attachment.letter = flag ? letter : nil
        default: try context.letter(one).attachments = distinct.map(context.attachment)
        }
    }

    private func changeTours(_ context: PrivateContext) throws {
        let (one, other) = (keys[0], keys[1])
        switch kind {
        case .setStops: try context.tour(one).stops = distinct.map(context.station)
        case .setDetours: try context.tour(one).detours = distinct.map(context.station)
        case .setTours: try context.station(one).tours = distinct.map(context.tour)
        default:
            let (tour, station) = (try context.tour(one), try context.station(other))
            switch kind {
            case .changeStops: tour.stops.change(station, isIn: flag)
            case .changeTours: station.tours.change(tour, isIn: flag)
            default: tour.detours.change(station, isIn: flag)
            }
        }
    }
}

extension Array where Element: Equatable {
    /// Appends an element that is missing, or removes it.
    mutating func change(_ element: Element, isIn isWanted: Bool) {
        if !isWanted { removeAll { $0 == element } } else if !contains(element) { append(element) }
    }
}

extension PrivateContext {
    fileprivate func delete(_ kind: GraphReference.Kind, _ key: String) throws {
        switch kind {
        case .topic: try deleteFound(Topic.self, \.key, key)
        case .letter: try deleteFound(Letter.self, \.key, key)
        case .person: try deleteFound(Person.self, \.key, key)
        case .label: try deleteFound(Label.self, \.key, key)
        case .folder: try deleteFound(Folder.self, \.key, key)
        case .attachment: try deleteFound(Attachment.self, \.key, key)
        case .passport: try deleteFound(Passport.self, \.key, key)
        case .cat: try deleteFound(Cat.self, \.key, key)
        case .dog: try deleteFound(Dog.self, \.key, key)
        case .station: try deleteFound(Station.self, \.key, key)
        case .tour: try deleteFound(Tour.self, \.key, key)
        }
    }

    private func deleteFound<Object: ManagedObject>(
        _ type: Object.Type, _ path: KeyPath<Object, String>, _ key: String
    ) throws {
        if let object = try first(type, where: path, equals: key) { delete(object) }
    }
}
