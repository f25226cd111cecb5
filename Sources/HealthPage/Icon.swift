import HealthAnswers
import HealthModel

extension SampleType {
    /// The family that gives the type its color and icon. Glucose belongs to nutrition, since food changes it.
    var family: HealthGroup {
        ["bloodGlucose", "bloodKetone", "insulinDelivery"].contains(id) ? .nutrition : HealthGroup(of: self)
    }
}

/// The drawings of the interface, 24 by 24, as lines in the color of the text. They are decoration: a name is always beside them.
enum Icon: String {
    case activity, heart, sleep, body, vitals, nutrition, records, today, trends, workout, plus, hub, sensor, file, quality,
        export
    case program, bell, people, warning, pill, down, right, temperature

    init(_ type: SampleType) {
        switch type.id {
        case "bodyTemperature", "basalBodyTemperature": self = .temperature
        case "workout", "workoutRoute": self = .workout
        case "medicationDoseEvent": self = .pill
        default: self = Icon(type.family)
        }
    }

    /// The icon of a family of data.
    init(_ group: HealthGroup) { self = Icon(rawValue: group.rawValue) ?? .records }

    var html: HTML { "<svg class=\"i\" viewBox=\"0 0 24 24\" aria-hidden=\"true\">\(shape)</svg>" }

    private var shape: HTML {
        switch self {
        case .activity:
            """
            <path d="M12.5 2.8c.6 4-5.5 6.2-5.5 11.7a5.6 5.6 0 0 0 11.2 0c0-2.6-1.3-4-2.2-5.6-.5 1.4-1.2 2-2 2.3.4-3-.1-6-1.5-8.4\
            Z"/>
            """
        case .heart:
            """
            <path d="M12 20.3S3.5 15.5 3.5 9.3A4.5 4.5 0 0 1 12 7.3a4.5 4.5 0 0 1 8.5 2c0 6.2-8.5 11-8.5 11Z"/>
            """
        case .sleep:
            """
            <path d="M20 14.2A8.3 8.3 0 1 1 9.8 4a6.6 6.6 0 0 0 10.2 10.2Z"/>
            """
        case .body:
            """
            <path d="M4 6.5A2.5 2.5 0 0 1 6.5 4h11A2.5 2.5 0 0 1 20 6.5v11a2.5 2.5 0 0 1-2.5 2.5h-11A2.5 2.5 0 0 1 4 17.5Z M8 10\
            a5.6 5.6 0 0 1 8 0l-1.8 2H9.8Z"/>
            """
        case .vitals:
            """
            <path d="M3 12.5h4l2.2-6 4 11.5 2.6-7.5 1 2H21"/>
            """
        case .nutrition:
            """
            <path d="M12 3s6.5 6.6 6.5 11.3a6.5 6.5 0 0 1-13 0C5.5 9.6 12 3 12 3Z"/>
            """
        case .records:
            """
            <path d="M6 3h8.5L19 7.5V21H6Z M14 3v5h5M9.5 12.5h6M9.5 16.5h6"/>
            """
        case .today:
            """
            <circle cx="12" cy="12" r="4.2"/><path d="M12 2.5v2.4M12 19.1v2.4M2.5 12h2.4M19.1 12h2.4M5.3 5.3 7 7M17 17l1.7 1.7\
            M18.7 5.3 17 7M7 17l-1.7 1.7"/>
            """
        case .trends:
            """
            <path d="M3.5 19.5h17M4 14.5l5-5 4 3.5 7-8"/>
            """
        case .workout:
            """
            <path d="M6 20.5c-4.5-6 8-5 8-9.5M18 4a3.6 3.6 0 0 1 3.6 3.6c0 2.6-3.6 6-3.6 6s-3.6-3.4-3.6-6A3.6 3.6 0 0 1 18 4Z"/><c\
            ircle cx="6" cy="20.5" r=".6"/>
            """
        case .plus:
            """
            <path d="M12 5v14M5 12h14"/>
            """
        case .hub:
            """
            <circle cx="12" cy="12" r="2.2"/><path d="M7.4 16.6a6.5 6.5 0 0 1 0-9.2M16.6 7.4a6.5 6.5 0 0 1 0 9.2M4.5 19.5a10.6\
             10.6 0 0 1 0-15M19.5 4.5a10.6 10.6 0 0 1 0 15"/>
            """
        case .sensor:
            """
            <path d="m7.5 8 9 8-4.5 4V4l4.5 4-9 8"/>
            """
        case .file:
            """
            <path d="M6 3h8.5L19 7.5V21H6ZM12.5 17.5v-6m-2.6 2.6 2.6-2.6 2.6 2.6"/>
            """
        case .quality:
            """
            <path d="M12 3 4.5 6v5.5c0 4.5 3 7.7 7.5 9.5 4.5-1.8 7.5-5 7.5-9.5V6ZM8.8 12l2.3 2.3 4.2-4.3"/>
            """
        case .export:
            """
            <path d="M12 15V4m-4 4 4-4 4 4M5 14v6h14v-6"/>
            """
        case .program:
            """
            <path d="m8.5 8-4.5 4 4.5 4M15.5 8l4.5 4-4.5 4"/>
            """
        case .bell:
            """
            <path d="M6 16.5V10.5a6 6 0 0 1 12 0v6l1.5 2h-15ZM10 21h4"/>
            """
        case .people:
            """
            <circle cx="9" cy="8" r="3.5"/><path d="M2.8 20c.3-4 3-5.8 6.2-5.8s5.9 1.8 6.2 5.8M15.5 4.8a3.5 3.5 0 0 1 0 6.4M18\
             14.9c1.9.8 3.1 2.5 3.3 5.1"/>
            """
        case .warning:
            """
            <path d="M12 4 2.8 19.8h18.4ZM12 10v4.5M12 17.2v.1"/>
            """
        case .pill:
            """
            <path d="m10.5 20 9.3-9.3a4.4 4.4 0 0 0-6.3-6.3L4.2 13.7a4.4 4.4 0 0 0 6.3 6.3ZM9 9l6.3 6.3"/>
            """
        case .down:
            """
            <path d="m7 10 5 5 5-5"/>
            """
        case .right:
            """
            <path d="m9.5 6 6 6-6 6"/>
            """
        case .temperature:
            """
            <path d="M14 13.8V5.5a2.5 2.5 0 0 0-5 0v8.3a4.3 4.3 0 1 0 5 0ZM11.5 9v8"/>
            """
        }
    }
}
